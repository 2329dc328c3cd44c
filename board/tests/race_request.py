# SPDX-License-Identifier: Apache-2.0
"""Requests round a call: MESSAGE, INFO, OPTIONS; loose and strict routes; what an answer says beside its status."""

import time

from peer.sipp import ADDRESS, PORT, Scenario, session
from tests.bench import wait_until
from tests.desk import KIOSK
from tests.race import connected, expect, hang_up, race
from tests.race_cancel import one

CALLED = f"{KIOSK}:{PORT}"


def told(desk, text):
    """A message of that text has been told; SIPp ends every body with an empty line."""
    wait_until(lambda: any(event.get("text", "").strip() == text for event in desk.find("message")), 3, f"“{text}”")


@race("message")
def message(desk):
    """A text comes in a call and outside (RFC 3428): 200, told; another kind of body: 415."""
    text = ("Content-Type: text/plain;charset=UTF-8",)
    scenario = Scenario().answers().request("MESSAGE", "i", 11, headers=text, body="Help is on the way").recv(200)
    scenario.request("MESSAGE", "i", 12, headers=("Content-Type: image/png",), body="no picture").recv(415).is_hung_up()
    with connected(desk, scenario) as peer:
        told(desk, "Help is on the way")
        desk.wait_sent(415)
        hang_up(desk)
        peer.done()
    alone = Scenario().invite(method="MESSAGE", headers=text, body="Are you there?").recv(200)
    with desk.sipp(alone, calls=CALLED, name="alone") as peer:
        told(desk, "Are you there?")
        peer.done()


@race("message-out")
def message_out(desk):
    """A text goes to the far end of the call."""
    scenario = Scenario().answers().recv("MESSAGE", keep="m").reply("m", 200).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.must("message", "I cannot hear")
        sent = desk.wait_sent("MESSAGE")
        time.sleep(0.2)
        hang_up(desk)
        peer.done()
    expect(sent.body, sent.body == "I cannot hear" and sent.header("content-type").startswith("text/plain"), "the text")


@race("digits-by-info")
def digits(desk):
    """INFO in both forms (case 115): each digit told once, nonsense refused, the call stays."""
    relay, plain = ("Content-Type: application/dtmf-relay",), ("Content-Type: application/dtmf",)
    scenario = Scenario().answers().request("INFO", "i", 11, headers=relay, body="Signal=5\nDuration=160").recv(200)
    scenario.request("INFO", "i", 12, headers=plain, body="7").recv(200)
    scenario.request("INFO", "i", 13, headers=relay, body="Signal= 11\nDuration= 100").recv(200)
    scenario.request("INFO", "i", 14, headers=relay, body="Signal=nonsense").recv(400).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(400)
        hang_up(desk)
        peer.done()
    told = "".join(event.get("key", "") for event in desk.find("digit"))
    expect(told, told == "57#", "the digits that came")


@race("digits-out")
def digits_out(desk):
    """A far end without telephone-event: digits go by INFO, one at a time and in order (case 116)."""
    scenario = Scenario().answers(headers=("Allow: INVITE, ACK, CANCEL, BYE, INFO",))
    for number in range(3):
        scenario.recv("INFO", keep=f"d{number}").pause(100).reply(f"d{number}", 200)
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        desk.must("digits", "1*9")
        desk.wait_sent("INFO", count=3)
        time.sleep(0.3)
        hang_up(desk)
        peer.done()
    sent = [part.split("ignal=")[1].split()[0] for part in (message.body for message in desk.sent("INFO"))]
    expect(f"{sent}", sent == ["1", "*", "9"], "in order")


@race("key-frame-by-info")
def key_frame(desk):
    """INFO picture_fast_update (RFC 5168), a packaged INFO, an empty one: 200, 469, 200."""
    control = ("Content-Type: application/media_control+xml",)
    body = ('<?xml version="1.0" encoding="utf-8"?><media_control><vc_primitive><to_encoder><picture_fast_update/>'
            "</to_encoder></vc_primitive></media_control>")
    scenario = Scenario().answers().request("INFO", "i", 11, headers=control, body=body).recv(200)
    scenario.request("INFO", "i", 12, headers=("Info-Package: nobody",)).recv(469).request("INFO", "i", 13).recv(200)
    scenario.is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, count=2, method="INFO")
        hang_up(desk)
        peer.done()


@race("options")
def options(desk):
    """OPTIONS in a call and outside: 200 that tells what we can do (RFC 3261 11)."""
    scenario = Scenario().answers().request("OPTIONS", "i", 11).recv(200).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, method="OPTIONS")
        hang_up(desk)
        peer.done()
    with desk.sipp(Scenario().invite(method="OPTIONS").recv(200), calls=CALLED, name="alone") as peer:
        peer.done()
    for answer in [message for message in desk.sent(200) if message.method == "OPTIONS"]:
        for name, token in (("Allow", "UPDATE"), ("Allow", "PRACK"), ("Supported", "100rel"), ("Supported", "timer"),
                            ("Supported", "replaces"), ("Accept", "application/sdp")):
            expect(f"no {token}", answer.lists(name, token), f"{name} was to have it: {answer.header(name)}")


@race("loose-routes")
def loose_routes(desk):
    """Record-Route of two loose proxies: Route has them backwards, the Contact stays the Request-URI."""
    near, far = f"<sip:{ADDRESS}:{PORT};lr>", "<sip:far@192.0.2.9;lr>"
    bye = ended_by_route(desk, f"Record-Route: {far}, {near}")
    route = ",".join(bye.headers("route")).replace(" ", "")
    expect(route, route == f"{near},{far}", "the nearest first (RFC 3261 12.1.2)")
    expect(bye.uri, bye.uri.startswith(f"sip:sipp@{ADDRESS}"), "the Contact stays the Request-URI")


@race("strict-route")
def strict_route(desk):
    """A strict router is the next hop: it is the Request-URI, and the Contact comes last in Route (12.2.1.1)."""
    bye = ended_by_route(desk, "Record-Route: <sip:far@192.0.2.9;lr>", f"Record-Route: <sip:strict@{ADDRESS}:{PORT}>")
    route = ",".join(bye.headers("route")).replace(" ", "")
    expect(bye.uri, bye.uri == f"sip:strict@{ADDRESS}:{PORT}", "the router is the Request-URI")
    expect(route, route.startswith("<sip:far@192.0.2.9;lr>,") and f"sip:sipp@{ADDRESS}:{PORT}" in route, "Contact last")


def ended_by_route(desk, *record_routes):
    """The BYE of a call whose answer had these."""
    with connected(desk, Scenario().answers(headers=record_routes).is_hung_up()) as peer:
        hang_up(desk)
        peer.done()
    return one(desk, "BYE")


@race("change-of-name")
def change_of_name(desk):
    """The far end says who it is now (RFC 4916, P-Asserted-Identity): told."""
    scenario = Scenario().answers(headers=('P-Asserted-Identity: "Front desk" <sip:desk@example.org>',))
    scenario.request("UPDATE", "i", 11, headers=('P-Asserted-Identity: "Night desk" <sip:night@example.org>',))
    scenario.recv(200).is_hung_up()
    with connected(desk, scenario) as peer:
        desk.wait_sent(200, method="UPDATE")
        time.sleep(0.1)
        hang_up(desk)
        peer.done()
    names = [event.get("name") for event in desk.find("identity")]
    expect(f"{names}", names == ["Front desk", "Night desk"], "each once")


@race("queued")
def queued(desk):
    """182: the person is told of the queue, and the call is answered in the end."""
    scenario = Scenario().recv("INVITE", keep="i").reply("i", 182, tag="a").pause(300)
    scenario.reply("i", 200, tag="a", body=session(), retrans=True).recv("ACK").is_hung_up()
    with connected(desk, scenario) as peer:
        hang_up(desk)
        peer.done()
    one(desk, "BYE")
    told = [event for event in desk.find("call") if event.get("queued")]
    expect("not told", told, "a queue is another thing than ringing")


@race("cause-q850")
def cause(desk):
    """A refusal whose Reason says more than its status (Q.850 17): the sentence is the one of a busy line."""
    scenario = Scenario().recv("INVITE", keep="i")
    scenario.reply("i", 503, tag="a", headers=('Reason: Q.850;cause=17;text="User busy"',), retrans=True).recv("ACK")
    with desk.sipp(scenario) as peer:
        mark = desk.mark()
        desk.must("call")
        said = desk.ended("refused", since=mark)["text"]
        peer.done()
    busy = Scenario().recv("INVITE", keep="i").reply("i", 486, tag="a", retrans=True).recv("ACK")
    with desk.sipp(busy, name="busy") as peer:
        mark = desk.mark()
        desk.must("call")
        expect(said, desk.ended("refused", since=mark)["text"] == said, "as if it were 486")
        peer.done()
    return f"“{said}”"
