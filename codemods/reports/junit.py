"""For test reporters: JUnit XML, a test case a file."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from ..project import Outcome
from . import counts, text

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(outcomes: Sequence[Outcome]) -> str:
    """One suite: a file with findings has failed, one with a problem is an error."""
    count = counts(outcomes)
    suites = xml.Element("testsuites")
    suite = xml.SubElement(
        suites,
        "testsuite",
        name="graphlift",
        tests=str(count["files"]),
        failures=str(sum(bool(outcome.findings) for outcome in outcomes)),
        errors=str(count["errors"]),
    )
    for outcome in outcomes:
        name = _clean(outcome.name)
        case = xml.SubElement(suite, "testcase", classname="graphlift", name=name)
        if outcome.problem:
            xml.SubElement(case, "error", message=_clean(outcome.problem.message))
        if outcome.findings:
            codes = sorted({finding.code for finding in outcome.findings})
            failure = xml.SubElement(case, "failure", message=", ".join(codes))
            failure.text = _clean(text.render([outcome]))
    xml.indent(suites)
    report: bytes = xml.tostring(suites, "utf-8", xml_declaration=True)
    return report.decode() + "\n"


def _clean(text: str) -> str:
    """What XML can hold of a text."""
    return FORBIDDEN.sub("?", text)
