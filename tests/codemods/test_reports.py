"""Reports in each format."""

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from graphlift.codemods.project import Outcome, Problem
from graphlift.codemods.reports import Format, render
from graphlift.transforms.findings import Finding


def finding(message="the test, of: a tensor", code="GL101", name="tensor-if"):
    return Finding(2, 5, 2, 9, code, name, message, "safe", "Model.call")


OUTCOMES = [
    Outcome(Path("a.py"), "sub dir/a.py", (finding(), finding("100%\nsure"))),
    Outcome(Path("b.py"), "b.py", problem=Problem("invalid syntax", 3, 7)),
    Outcome(Path("c.py"), "c.py", problem=Problem("binary\0")),
    Outcome(Path("d.py"), "d.py"),
]

INTEGER = {"type": "integer", "minimum": 1}
TEXT = {"type": "string"}
CHECK_SCHEMA = {
    "type": "object",
    "required": ["version", "files", "summary"],
    "additionalProperties": False,
    "properties": {
        "version": {"const": 1},
        "summary": {"type": "object"},
        "files": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["path", "findings", "unrecorded", "error"],
                "additionalProperties": False,
                "properties": {
                    "path": TEXT,
                    "unrecorded": {"type": "array", "items": TEXT},
                    "error": {"type": ["string", "null"]},
                    "findings": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": [
                                "code",
                                "name",
                                "message",
                                "applicability",
                                "line",
                                "column",
                                "end_line",
                                "end_column",
                                "function",
                            ],
                            "additionalProperties": False,
                            "properties": {
                                "code": {"pattern": "^GL[0-9]{3}$"},
                                "name": TEXT,
                                "message": TEXT,
                                "applicability": {"enum": ["safe", "unsafe", "manual"]},
                                "line": INTEGER,
                                "column": INTEGER,
                                "end_line": INTEGER,
                                "end_column": INTEGER,
                                "function": TEXT,
                            },
                        },
                    },
                },
            },
        },
    },
}


def test_json_is_as_designed():
    report = json.loads(render(Format.json, OUTCOMES))
    jsonschema.validate(report, CHECK_SCHEMA)
    assert [file["path"] for file in report["files"]] == [o.name for o in OUTCOMES]
    assert [file["error"] for file in report["files"]] == [
        None,
        "line 3, column 7: invalid syntax",
        "binary\0",
        None,
    ]
    assert report["summary"] == {
        "files": 4,
        "findings": 2,
        "errors": 2,
        "safe": 2,
        "unsafe": 0,
        "manual": 0,
    }


def test_text():
    assert render(Format.text, OUTCOMES[:3]).splitlines()[0] == (
        "sub dir/a.py:2:5: GL101 [tensor-if] the test, of: a tensor (safe)"
    )
    assert "b.py:3:7: error: invalid syntax\n" in render(Format.text, OUTCOMES)


MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": TEXT}}
LOCATION = {
    "type": "object",
    "required": ["physicalLocation"],
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": "^[^ ]+$"}},
                },
                "region": {
                    "type": "object",
                    "required": ["startLine", "startColumn"],
                    "additionalProperties": False,
                    "properties": dict.fromkeys(
                        ("startLine", "startColumn", "endLine", "endColumn"), INTEGER
                    ),
                },
            },
        }
    },
}
SARIF_SCHEMA = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "required": ["name", "version", "rules"],
                                "properties": {
                                    "rules": {
                                        "items": {
                                            "required": ["id", "help"],
                                            "properties": {
                                                "shortDescription": MESSAGE,
                                                "help": MESSAGE,
                                            },
                                        }
                                    }
                                },
                            }
                        },
                    },
                    "invocations": {
                        "items": {
                            "required": ["executionSuccessful"],
                            "properties": {
                                "toolExecutionNotifications": {
                                    "items": {
                                        "required": ["message", "level", "locations"],
                                        "properties": {
                                            "message": MESSAGE,
                                            "locations": {"items": LOCATION},
                                        },
                                    }
                                }
                            },
                        }
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "required": ["ruleId", "ruleIndex", "message", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": MESSAGE,
                                "locations": {"items": LOCATION},
                            },
                        },
                    },
                },
            },
        },
    },
}


def test_sarif_has_the_structure_services_need():
    report = json.loads(render(Format.sarif, OUTCOMES))
    jsonschema.validate(report, SARIF_SCHEMA)
    [run] = report["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["invocations"][0]["executionSuccessful"] is False
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "sub%20dir/a.py"


def test_github_escapes_what_ends_a_command():
    assert render(Format.github, OUTCOMES).splitlines() == [
        "::warning file=sub dir/a.py,line=2,col=5,endLine=2,endColumn=9,"
        "title=GL101 tensor-if::the test, of: a tensor",
        "::warning file=sub dir/a.py,line=2,col=5,endLine=2,endColumn=9,"
        "title=GL101 tensor-if::100%25%0Asure",
        "::error file=b.py,line=3,col=7::invalid syntax",
        "::error file=c.py::binary\0",
    ]
    odd = [Outcome(Path("x"), "a,b:c.py", (finding(),))]
    assert "file=a%2Cb%3Ac.py,line" in render(Format.github, odd)


def test_junit():
    suites = ElementTree.fromstring(render(Format.junit, OUTCOMES))
    [suite] = suites
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        "4",
        "1",
        "2",
    )
    cases = {case.get("name"): case for case in suite}
    assert "GL101 [tensor-if]" in cases["sub dir/a.py"].findtext("failure")
    assert cases["c.py"].find("error").get("message") == "binary?"
    assert len(cases["d.py"]) == 0


@pytest.mark.parametrize("format", Format)
def test_no_files(format):
    assert isinstance(render(format, []), str)
