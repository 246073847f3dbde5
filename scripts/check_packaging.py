#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checks the files of other build systems and of the hosted CI, as far as no network allows.

    scripts/check_packaging.py

Each states the version of include/tenure/version.hpp. The Bazel files are evaluated as Starlark, with functions that check the arguments
of rules, and glob on the files of this tree. The workflows are parsed, and what they run exists. What needs a Python module that is not
installed (starlark, yaml) is named at the end; the exit status is 77 where something was left out and nothing is wrong.
"""

import importlib.util, json, re, subprocess, sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
wrong, left_out = [], []


def expect(holds, message):
    if not holds:
        wrong.append(message)


def check_versions():
    text = (root / "include/tenure/version.hpp").read_text()
    number, version = re.search(r"#define TENURE_VERSION (\d+)  // (\S+)", text).groups()
    number = int(number)
    expect(version == f"{number // 10000}.{number // 100 % 100}.{number % 100}", f"version.hpp: {number} is not {version}")
    port = json.loads((root / "packaging/vcpkg/ports/tenure/vcpkg.json").read_text())
    expect(port["version"] == version, f"vcpkg.json: version {port['version']} is not {version}")
    expect(port["name"] == "tenure" and port["license"] == "BSL-1.0", "vcpkg.json: name or license")
    changes = (root / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[(.*?)\](?: - (\d{4}-\d\d-\d\d))?$", changes, re.M)
    expect(headings[:1] == [("Unreleased", "")], "CHANGELOG.md: the first section is not [Unreleased]")
    expect([h for h in headings[1:2] if h[0] == version and h[1]], f"CHANGELOG.md: the second section is not [{version}] with a date")
    expect(f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(), f"CITATION.cff: it does not say version {version}")
    readme = (root / "README.md").read_text()
    expect(f"version {'.'.join(version.split('.')[:2])}:" in readme, f"README.md: it does not say version {version}")
    return version


def check_bazel(version):
    try:
        import starlark
    except ImportError:
        left_out.append("MODULE.bazel, BUILD.bazel: no Python module starlark (starlark-pyo3)")
        return
    calls = []

    def record(rule, required, optional):
        def called(**given):
            missing, unknown = required - given.keys(), given.keys() - required - optional
            expect(not missing and not unknown, f"Bazel: {rule}: missing {sorted(missing)}, unknown {sorted(unknown)}")
            calls.append((rule, given))

        return called

    def glob(include, exclude=()):
        found = sorted({str(p.relative_to(root)) for pattern in include for p in root.glob(pattern)})
        expect(found, f"Bazel: glob({include}) finds nothing")
        return found

    def evaluate(name, functions):
        module = starlark.Module()
        for called, function in functions.items():
            module.add_callable(called, function)
        dialect = starlark.Dialect.standard()
        dialect.enable_load = True
        text = re.sub(r"^load\(.*\)$", "", (root / name).read_text(), flags=re.M)  # rules of another repository
        loads = re.findall(r'^load\("@(\w+)//', (root / name).read_text(), flags=re.M)
        try:
            starlark.eval(module, starlark.parse(name, text, dialect), starlark.Globals.standard())
        except starlark.StarlarkError as error:
            wrong.append(str(error))
        return loads

    evaluate(
        "MODULE.bazel",
        {
            "module": record("module", {"name", "version"}, {"compatibility_level", "bazel_compatibility"}),
            "bazel_dep": record("bazel_dep", {"name", "version"}, {"dev_dependency", "repo_name"}),
        },
    )
    modules = {given["name"] for rule, given in calls if rule == "bazel_dep"}
    expect([given["version"] for rule, given in calls if rule == "module"] == [version], f"MODULE.bazel: the version is not {version}")
    loads = evaluate(
        "BUILD.bazel", {"cc_library": record("cc_library", {"name"}, {"hdrs", "srcs", "includes", "deps", "visibility"}), "glob": glob}
    )
    libraries = [given for rule, given in calls if rule == "cc_library"]
    expect(len(libraries) == 1, "BUILD.bazel: there is not one cc_library")
    for repository in loads:
        expect(repository in modules, f"BUILD.bazel loads @{repository}, which is no bazel_dep")
    for library in libraries:
        for dependency in library.get("deps", []):
            expect(dependency.removeprefix("@") in modules, f"BUILD.bazel: {dependency} is no bazel_dep")
        headers = {str(p.relative_to(root)) for p in (root / "include").rglob("*.hpp")}
        expect(headers <= set(library.get("hdrs", [])), f"BUILD.bazel: hdrs lacks {sorted(headers - set(library.get('hdrs', [])))[:3]}")
        for folder in library.get("includes", []):
            expect((root / folder / "tenure/tenure.hpp").is_file(), f"BUILD.bazel: includes {folder}: there is no tenure/tenure.hpp")


def check_workflows():
    try:
        import yaml
    except ImportError:
        left_out.append(".github/workflows: no Python module yaml")
        return
    files = sorted((root / ".github/workflows").glob("*.yml"))
    expect(files, "there are no workflows")
    if importlib.util.find_spec("check_jsonschema"):  # the published schema of workflows, which that module brings
        validate = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *map(str, files)]
        result = subprocess.run(validate, capture_output=True, text=True)
        expect(result.returncode == 0, result.stdout + result.stderr)
    for path in files:
        workflow = yaml.safe_load(path.read_text())
        name = path.name
        expect(True in workflow or "on" in workflow, f"{name}: it says no event")  # YAML 1.1 reads `on` as true
        for job, body in workflow["jobs"].items():
            where = f"{name}: {job}"
            expect("timeout-minutes" in body and "runs-on" in body, f"{where}: without runs-on or timeout-minutes")
            matrix = body.get("strategy", {}).get("matrix", {})
            keys = set(matrix) - {"include"} | {key for entry in matrix.get("include", []) for key in entry}
            for used in re.findall(r"matrix\.(\w+)", json.dumps(body)):
                expect(used in keys, f"{where}: matrix.{used} is not in the matrix")
            for step in body["steps"]:
                expect(len({"run", "uses"} & step.keys()) == 1, f"{where}: a step has not one of run and uses: {step}")
                if "uses" in step:
                    expect(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), f"{where}: {step['uses']}: no version")
                for script in re.findall(r"(?:^|\s)((?:scripts|tests)/[\w./-]+)", step.get("run", "")):
                    expect(
                        (root / script).is_file() and (root / script).stat().st_mode & 0o100,
                        f"{where}: {script}: there is no such program",
                    )


version = check_versions()
check_bazel(version)
check_workflows()
for line in wrong:
    print(line)
for line in left_out:
    print(f"not checked: {line}")
print(f"version {version}: {len(wrong)} mistakes")
sys.exit(1 if wrong else 77 if left_out else 0)
