# SPDX-License-Identifier: Apache-2.0
"""Checks of the sources as text: formatting, scripts, lengths, words that do not belong in a repository."""

import ast
import os
import re

from tests.runner import Failed, check

SKIPPED = {".git", ".build", "build", "__pycache__"}
CODE = {".swift", ".c", ".h", ".py", ".sh", ""}
LINE_LENGTH, FUNCTION_LINES, FILE_LINES = 120, 70, 450
# Put together here so that this file does not contain them.
FORBIDDEN = [
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", "unfinished"),
    (r"(?<![\w$}.\"/-])/(work|ro" r"ot|o" r"pt)/\w", "a path of one machine"),
    (r"\b[\w-]+\.debian\.(org|net)\b|\bpypi\.org\b|\bghcr\.io\b|\bdocker\.io\b", "a mirror's or registry's host"),
]


def files(context):
    """Every text file of the project, as (path from the top, its lines)."""
    for folder, folders, names in os.walk(context.project):
        folders[:] = sorted(set(folders) - SKIPPED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or os.path.splitext(name)[1] in {".png", ".wav", ".pyc"}:
                continue
            data = open(path, "rb").read()
            if b"\0" not in data[:4096]:
                yield os.path.relpath(path, context.project), data.decode(errors="replace").splitlines()


def is_code(path, lines):
    extension = os.path.splitext(path)[1]
    return extension in CODE and (extension != "" or bool(lines) and lines[0].startswith("#!"))


def none_of(context, faults, what):
    for fault in faults:
        context.log(fault)
    if faults:
        raise Failed(f"{len(faults)} {what}", faults[0])
    return f"0 {what}"


@check("format/swift")
def swift_format(context):
    folders = [name for name in ("Sources", "Tests", "FuzzTesting") if (context.project / name).exists()]
    output = context.run("swift", "format", "lint", "--strict", "--parallel", "--recursive", "Package.swift", *folders,
                         may_fail=True)
    faults = [line for line in output.splitlines() if re.search(r": (error|warning): ", line)]
    return none_of(context, faults, "complaints")


@check("format/shell")
def shell(context):
    scripts = [path for path, lines in files(context) if lines and path.rsplit("/", 1)[-1].endswith(".sh")
               or lines and re.match(r"#!.*\b(ba)?sh\b", lines[0])]
    if not scripts:
        raise Failed("0 scripts", "there is no script to look at")
    # What is only sourced defines names for others.
    output = context.run("shellcheck", "--external-sources", "--exclude", "SC2034", "--format", "gcc", *scripts,
                         may_fail=True)
    return f"{none_of(context, output.splitlines(), 'complaints')} about {len(scripts)} scripts"


@check("format/python")
def python(context):
    faults = []
    for path, lines in files(context):
        if path.endswith(".py"):
            try:
                ast.parse("\n".join(lines), path)
            except SyntaxError as error:
                faults.append(f"{path}:{error.lineno}: {error.msg}")
    return none_of(context, faults, "complaints")


@check("format/lengths")
def lengths(context):
    faults = []
    for path, lines in files(context):
        if not is_code(path, lines):
            continue
        faults += [f"{path}:{number}: {len(line)} columns" for number, line in enumerate(lines, 1)
                   if len(line) > LINE_LENGTH]
        if len(lines) > FILE_LINES:
            faults.append(f"{path}: {len(lines)} lines")
        faults += [f"{path}:{start}: {name} has {length} lines" for name, start, length in functions(path, lines)
                   if length > FUNCTION_LINES]
    return none_of(context, faults, "too long")


def functions(path, lines):
    """(name, first line, number of lines) of each function."""
    if path.endswith(".py"):
        try:
            tree = ast.parse("\n".join(lines))
        except SyntaxError:
            return []
        return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(tree)
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if path.endswith((".swift", ".c", ".h")):
        return braced(lines, re.compile(r"\b(func \S+?|init|deinit|subscript)\s*[<(?{]|^\w[\w *]*\b(\w+)\([^;]*$"))
    return braced(lines, re.compile(r"^(\w+)\(\) *[{(]"))


def braced(lines, heading):
    """By counting braces from a heading to where they close; strings and comments are taken out first."""
    found, open_functions, depth = [], [], 0
    for number, raw in enumerate(lines, 1):
        line = re.sub(r'"(\\.|[^"\\])*"|//.*|(^|\s)#\s.*', "", raw)
        match = heading.search(line)
        if match and not line.rstrip().endswith((";", ",")):
            open_functions.append((match.group(1) or match.group(0), number, depth))
        for character in line:
            depth += (character == "{") - (character == "}")
            if character == "}":
                while open_functions and depth <= open_functions[-1][2]:
                    name, start, _ = open_functions.pop()
                    found.append((name, start, number - start + 1))
    return found


@check("format/licence")
def licence(context):
    faults = [path for path, lines in files(context) if is_code(path, lines)
              and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3])]
    return none_of(context, faults, "files without an SPDX line")


@check("format/words")
def words(context):
    faults = []
    for path, lines in files(context):
        if path == "board/tests/sources.py" or path == "LICENSE":
            continue
        for number, line in enumerate(lines, 1):
            faults += [f"{path}:{number}: {reason}" for pattern, reason in FORBIDDEN if re.search(pattern, line)]
    return none_of(context, faults, "forbidden words")
