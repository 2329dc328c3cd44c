# SPDX-License-Identifier: Apache-2.0
"""What an H.264 stream of frames means for a decoder: order counts, frames to refer to, lists of them (ITU-T H.264
sections 8.2.1, 8.2.4, 8.2.5), from its syntax elements. Written for tests, apart from the product's own reader."""

from dataclasses import dataclass, field
from typing import Optional

P, B, I = 0, 1, 2  # noqa: E741 # the standard's letters


@dataclass
class Frame:
    """A decoded frame that others may refer to. `number` counts pictures in decoding order, from 1."""

    number: int
    frame_num: int
    top: int
    bottom: int
    long_term: Optional[int] = None

    @property
    def order(self):
        return min(self.top, self.bottom)


@dataclass
class Slice:
    """The elements of one slice's header, in order, by name without index; lists of them."""

    elements: list
    end: int
    sps: dict
    pps: dict
    lists: list = field(default_factory=lambda: [[], []])

    def get(self, name, default=0):
        return next((value for element, value, _ in self.elements if element == name), default)

    def bits(self, *names):
        return sum(bits for element, _, bits in self.elements if element in names)

    @property
    def kind(self):
        return self.get("slice_type") % 5

    def active(self, index):
        """How many entries of a list are used."""
        if self.kind == I or (index == 1 and self.kind != B):
            return 0
        name = f"num_ref_idx_l{index}"
        return self.get(f"{name}_active_minus1", self.pps[f"{name}_default_active_minus1"]) + 1

    def of(self, *names):
        """(name, value) of these elements, in their order."""
        return [(element, value) for element, value, _ in self.elements if element in names]


@dataclass
class Picture:
    number: int
    slices: list
    top: int
    bottom: int
    references: list


class Decoder:
    """Takes slices in decoding order; `picture` tells what was known when a picture began."""

    def __init__(self):
        self.frames, self.count = [], 0
        self.before_msb = self.before_lsb = self.before_num = self.before_offset = 0
        self.picture = None

    def take(self, slice_):
        """Whether a picture begins with it."""
        begins = slice_.get("first_mb_in_slice") == 0
        if begins:
            self.end()
            self.begin(slice_)
        self.picture.slices.append(slice_)
        slice_.lists = self.lists(slice_)
        return begins

    def begin(self, slice_):
        self.count += 1
        self.idr = slice_.get("nal_unit_type") == 5
        if self.idr:
            self.frames = []
        limit = 1 << slice_.sps["log2_max_frame_num_minus4"] + 4
        self.wrap = {}
        for frame in self.frames:
            ahead = frame.frame_num > slice_.get("frame_num")
            self.wrap[frame.number] = frame.frame_num - limit if ahead else frame.frame_num
        top, bottom = self.order(slice_, limit)
        self.picture = Picture(self.count, [], top, bottom, list(self.frames))

    def order(self, slice_, limit):
        """8.2.1: order counts of both fields."""
        if slice_.sps["pic_order_cnt_type"] == 0:
            if self.idr:
                self.before_msb = self.before_lsb = 0
            low, size = slice_.get("pic_order_cnt_lsb"), 1 << slice_.sps["log2_max_pic_order_cnt_lsb_minus4"] + 4
            self.msb = self.before_msb
            if low < self.before_lsb and self.before_lsb - low >= size // 2:
                self.msb += size
            elif low > self.before_lsb and low - self.before_lsb > size // 2:
                self.msb -= size
            top = self.msb + low
            return top, top + slice_.get("delta_pic_order_cnt_bottom")
        if slice_.sps["pic_order_cnt_type"] != 2:
            raise ValueError("no stream here has order counts of type 1")
        number = slice_.get("frame_num")
        if self.idr:
            self.before_offset = 0
        elif self.before_num > number:
            self.before_offset += limit
        self.before_num = number
        count = 2 * (self.before_offset + number) - (slice_.get("nal_ref_idc") == 0)
        return (0, 0) if self.idr else (count, count)

    def end(self):
        """8.2.5: the picture becomes one to refer to, or does not."""
        if self.picture is None or self.picture.slices[0].get("nal_ref_idc") == 0:
            return
        first = self.picture.slices[0]
        frame = Frame(self.picture.number, first.get("frame_num"), self.picture.top, self.picture.bottom)
        if self.idr:
            frame.long_term = 0 if first.get("long_term_reference_flag") else None
        elif first.get("adaptive_ref_pic_marking_mode_flag"):
            self.mark(first)
        elif len(self.frames) >= max(1, first.sps["max_num_ref_frames"]):
            oldest = min((one for one in self.frames if one.long_term is None), key=lambda one: self.wrap[one.number])
            self.frames.remove(oldest)
        self.frames.append(frame)
        if first.sps["pic_order_cnt_type"] == 0:
            self.before_msb, self.before_lsb = self.msb, first.get("pic_order_cnt_lsb")

    def mark(self, slice_):
        """8.2.5.4: orders of the stream; x264 only ends the use of short-term frames."""
        words = slice_.of("memory_management_control_operation", "difference_of_pic_nums_minus1")
        for at, (name, value) in enumerate(words):
            if name.startswith("memory") and value not in (0, 1):
                raise ValueError(f"no stream here has memory management of kind {value}")
            if name.startswith("difference"):
                assert words[at - 1][1] == 1
                gone = slice_.get("frame_num") - value - 1
                self.frames = [one for one in self.frames if one.long_term is not None or self.wrap[one.number] != gone]

    def lists(self, slice_):
        """8.2.4.2 and 8.2.4.3: the frames of both lists, as this slice uses them."""
        short = [one for one in self.frames if one.long_term is None]
        long = sorted((one for one in self.frames if one.long_term is not None), key=lambda one: one.long_term)
        now = min(self.picture.top, self.picture.bottom)
        if slice_.kind == B:
            past = sorted((one for one in short if one.order < now), key=lambda one: -one.order)
            later = sorted((one for one in short if one.order > now), key=lambda one: one.order)
            both = [past + later + long, later + past + long]
            if len(both[1]) > 1 and both[0] == both[1]:
                both[1] = [both[1][1], both[1][0], *both[1][2:]]
        else:
            both = [sorted(short, key=lambda one: -self.wrap[one.number]) + long, []]
        return [self.modified(slice_, index, both[index][:slice_.active(index)]) for index in (0, 1)]

    def modified(self, slice_, index, entries):
        """8.2.4.3.1: the stream puts some first."""
        limit, at = 1 << slice_.sps["log2_max_frame_num_minus4"] + 4, 0
        predicted, kind, active = slice_.get("frame_num"), None, slice_.active(index)
        mine = False
        for name, value, _ in slice_.elements:
            if name.startswith("ref_pic_list_modification_flag"):
                mine = name.endswith(f"l{index}")
            elif mine and name == "modification_of_pic_nums_idc":
                kind = value
                if kind not in (0, 1, 3):
                    raise ValueError("no stream here has long-term frames")
            elif mine and name == "abs_diff_pic_num_minus1":
                predicted = (predicted + (value + 1 if kind else -value - 1)) % limit
                number = predicted - limit if predicted > slice_.get("frame_num") else predicted
                chosen = next(one for one in self.frames if one.long_term is None and self.wrap[one.number] == number)
                # It leaves the place that it had behind.
                rest = [one for one in entries[at:] if one is not chosen]
                entries = (entries[:at] + [chosen] + rest)[:active]
                at += 1
        return entries
