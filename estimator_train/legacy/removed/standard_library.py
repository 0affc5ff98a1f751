"""Names of Python's standard library that were removed up to Python 3.13."""

import collections.abc
import sys

_HERE = "estimator_train.legacy.removed"
_FUNCTIONS = f"{_HERE}.standard_functions"
_CLASSES = f"{_HERE}.standard_classes"
_PLATFORM = {"dist": "linux_distribution", "linux_distribution": "linux_distribution"}

MODULES: dict[str, tuple[str, ...]] = {
    **{
        name: (name,)
        for name in (
            "array",
            "asyncio",
            "base64",
            "collections",
            "configparser",
            "dataclasses",
            "fractions",
            "html",
            "html.parser",
            "inspect",
            "json",
            "locale",
            "platform",
            "plistlib",
            "random",
            "threading",
            "time",
            "unittest",
            "xml",
            "xml.etree",
            "xml.etree.ElementTree",
        )
    },
    "xml.etree.cElementTree": ("xml.etree.ElementTree",),
    "cgi": ("cgi",) if sys.version_info < (3, 13) else ("html",),
    "imp": ("imp",) if sys.version_info < (3, 12) else (f"{_HERE}.imp_functions",),
    "pipes": ("pipes",) if sys.version_info < (3, 13) else ("shlex",),
}
NAMES = {
    **{f"collections.{name}": f"collections.abc:{name}" for name in collections.abc.__all__},
    **{f"platform.{old}": f"{_FUNCTIONS}:{new}" for old, new in _PLATFORM.items()},
    "asyncio.coroutine": "types:coroutine",
    "base64.decodestring": "base64:decodebytes",
    "base64.encodestring": "base64:encodebytes",
    "cgi.escape": f"{_FUNCTIONS}:escape",
    "configparser.SafeConfigParser": "configparser:ConfigParser",
    "dataclasses.dataclass": f"{_FUNCTIONS}:dataclass",
    "fractions.gcd": "math:gcd",
    "imp.reload": f"{_HERE}.imp_functions:reload",
    "inspect.ArgSpec": f"{_FUNCTIONS}:ArgSpec",
    "inspect.getargspec": f"{_FUNCTIONS}:getargspec",
    "json.load": f"{_FUNCTIONS}:load_json",
    "json.loads": f"{_FUNCTIONS}:loads_json",
    "locale.format": "locale:format_string",
    "plistlib.readPlist": f"{_FUNCTIONS}:read_plist",
    "plistlib.writePlist": f"{_FUNCTIONS}:write_plist",
    "random.randint": f"{_FUNCTIONS}:randint",
    "random.randrange": f"{_FUNCTIONS}:randrange",
    "random.sample": f"{_FUNCTIONS}:sample",
    "random.shuffle": f"{_FUNCTIONS}:shuffle",
    "time.clock": "time:process_time",
    "unittest.makeSuite": f"{_FUNCTIONS}:make_suite",
}
PREPARE = {
    "array": f"{_CLASSES}:add_to_array",
    "configparser": f"{_CLASSES}:add_to_configparser",
    "html.parser": f"{_CLASSES}:add_to_html_parser",
    "threading": f"{_CLASSES}:add_to_threading",
    "unittest": f"{_CLASSES}:add_to_unittest",
    "xml.etree.ElementTree": f"{_CLASSES}:add_to_element_tree",
    "xml.etree.cElementTree": f"{_CLASSES}:add_to_element_tree",
}
