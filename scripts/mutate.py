#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Would the tests notice a mistake? Makes small mistakes in the headers, one at a time, and runs the tests that could see them.

    scripts/mutate.py [-n 20] [--seed 1] [--jobs 1] [--cxx g++] include/tenure/passes
    scripts/mutate.py --list include/tenure/passes       # every mutation there, without running one
    scripts/mutate.py --only <name> ...                  # this one again, by the name that is printed
    scripts/mutate.py --only <name> --tests laws/qr ...  # against a test of your choice, which saves the time of the nearest

A mistake is called a mutant: a comparison turned round, one more or less, a dropped condition or statement, swapped operands. Each is
built in a scratch copy of the headers, against the test files that include its header, until one is red: those first that share most words
with the header. A mutant is killed where a test or a static_assert is red, or where the time is up. What the nearest files leave alive meets the
must-not-compile tests of the messages in its header, and some more files; it lives where all are green. The last line is the score. Not counted
are mutants that are no C++, and those that change no result: these stand in scripts/mutants_equivalent.txt, each with the reason.
"""
import argparse, functools, math, os, random, re, resource, shutil, signal, subprocess, sys, tempfile, time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

root = Path(__file__).resolve().parent.parent

# ---- which tests could see a mistake ---------------------------------------------------------------

# Folders that are no programs of Catch2, or that another build system or library runs.
apart = ("blas", "compile_fail", "consumer", "examples", "gradbench", "mixed_isa", "packaging", "peers", "random_programs", "two_tu")
# So many files meet each mutant, and so many more meet those that these leave alive.
nearest, further = 12, 12


@functools.cache
def includes_of(file):
    text = re.sub(r"^#if defined\((__CUDACC__|TENURE_TEST_CUDA)\).*?^#(el|endif)", "", file.read_text(), flags=re.M | re.S)  # only nvcc sees it
    folders = (file.parent, root / "include", root / "kernels", root / "tests")
    named = re.findall(r'^\s*#\s*include\s*[<"]([\w./]+)[>"]', text, re.M)
    return [next((f for f in ((folder / name).resolve() for folder in folders) if f.is_file()), file) for name in named]


@functools.cache
def files_seen_by(source):
    """The files of this repository that a file includes, and itself."""
    found, waiting = set(), [source]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += includes_of(file)
    return found


def words_of(text, path):
    """The logarithm of the count of each word. Those of the path count as many: tests lie and are named as the headers are."""
    counts = Counter(w.lower() for w in re.findall(r"[A-Za-z]{3,}", text + 20 * (" " + str(path).replace("_", " "))))
    return {w: 1 + math.log(n) for w, n in counts.items()}


@functools.cache
def vocabulary():
    """(the words of each test file, the weight of each word): a word that is in all files weighs nothing."""
    words = {}
    for source in sorted((root / "tests").glob("*/*.cpp")):
        if source.parent.name not in apart and "TEST_CASE" in source.read_text():
            beside = [f for f in files_seen_by(source) if f.parent == source.parent]
            words[source] = words_of(" ".join(f.read_text() for f in beside), source.relative_to(root / "tests").with_suffix(""))
    counts = Counter(w for those in words.values() for w in those)
    return words, {w: math.log(len(words) / n) ** 2 for w, n in counts.items()}


@functools.cache
def tests_including(header):
    """The test files that include a header, those first that share most words with it."""
    words, weights = vocabulary()
    own = words_of(header.read_text(), Path(name_of(header)).with_suffix(""))
    nearness = {}
    for source, those in words.items():
        if header in files_seen_by(source):
            size = math.sqrt(sum(n * n * weights[w] for w, n in those.items()))
            nearness[source] = sum(n * those[w] * weights[w] for w, n in own.items() if w in those) / size
    return [f"{s.parent.name}/{s.stem}" for s in sorted(nearness, key=nearness.get, reverse=True)]


@functools.cache
def sources_of(test):
    """What is compiled for a test file: itself, and the files of its folder that hold no test."""
    folder = root / "tests" / test.split("/")[0]
    shared = [f for f in sorted(folder.glob("*.cpp")) if "TEST_CASE" not in f.read_text()]
    if folder.name == "nccl":
        shared.append(root / "tests/cuda/fake_runtime.cpp")
    return [str(f) for f in (root / "tests" / f"{test}.cpp", *shared)]


# ---- what a mistake looks like --------------------------------------------------------------------

# Each pattern of a line of code -> what may stand in its place. Spaces around an operator tell it from a template's bracket.
swaps = [
    (r" < ", [" <= ", " >= "]), (r" <= ", [" < ", " > "]), (r" > ", [" >= ", " <= "]), (r" >= ", [" > ", " < "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && (?!\{)", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ 1\b", ["", " + 2", " - 1"]), (r" - 1\b", ["", " - 2", " + 1"]), (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" + "]), (r" / ", [" * "]),
    (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r" << ", [" >> "]), (r" >> ", [" << "]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"\bmin\(", ["max("]), (r"\bmax\(", ["min("]), (r"\bmin\b(?=[;,)}])", ["max"]),
    (r"(?<![\w.:\[<])0(?![\w.x\]>])", ["1"]), (r"(?<![\w.:\[<])1(?![\w.\]>])", ["0", "2"]), (r"(?<=[(&| ])!(?=[\w(])", [""]),
    (r"\bcontinue;", [";"]), (r"\bbreak;", [";"]),
]


def is_code(line, in_raw_text):
    text = line.strip()
    skipped = ("//", "#", "using ", "namespace", "template", "static_assert", "friend ", "///", "*", "throw", "case ", "[[noreturn]]")
    return not in_raw_text and text and not text.startswith(skipped) and "fail(" not in text and "require(" not in text


def outside_text(line, at):
    """Is this place of a line code, not a string or a comment?"""
    quoted = False
    for i, c in enumerate(line[:at]):
        if c == '"' and line[i - 1:i] != "\\" and line[i - 1:i + 2] != "'\"'":
            quoted = not quoted
        if not quoted and line.startswith("//", i):
            return False
    return not quoted


def split_condition(line):
    """if (a && b): each way to leave out one condition, and the whole, where the parts hold no brackets that we would cut."""
    m = re.search(r"\b(if|while) (constexpr )?\((.*)\)(?= [^)]*$|$)", line)
    if not m:
        return []
    whole, parts = m[3], re.split(r" (?:&&|\|\|) ", m[3])
    out = [(m.start(3), m.end(3), p) for p in parts if len(parts) > 1 and all(p.count(a) == p.count(b) for a, b in ("()", "[]", "{}"))]
    if m[1] == "if" and ";" not in whole:
        out += [(m.start(3), m.end(3), "true"), (m.start(3), m.end(3), "false")]
    return out


def has_avx512(cxx="g++"):
    return "__AVX512F__" in subprocess.run([cxx, "-march=native", "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True).stdout


tables_for_512 = ("pieces.hpp",)  # what only the code behind such an #if reads


def mutations_of(path):
    """(line number, the line as it is, the line with a mistake) for each mistake of one file, in what this processor compiles."""
    out, closing = [], None  # what ends a text over many lines, also of another language: the script and the style of a page
    unseen, opens_512 = [], "#if TENURE_AVX512"
    text = path.read_text()
    sees_512 = (opens_512 not in text and path.name not in tables_for_512) or has_avx512()
    if not sees_512 and path.name in tables_for_512:
        return []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#if"):
            unseen.append(not sees_512 and line == opens_512)
        elif line.startswith(("#else", "#elif")):
            unseen[-1] = False
        elif line.startswith("#endif"):
            unseen.pop()
        if any(unseen):
            continue
        if is_code(line, closing is not None):
            code = [(m.start(), m.end(), new) for pattern, news in swaps for m in re.finditer(pattern, line) for new in news]
            code += split_condition(line)
            statement = re.fullmatch(r"(\s+)((?!return|const |auto |break|continue|throw|if|for|while|else|using|static|constexpr|int |std::int64_t )[^{}]*[^;{}]);", line)
            if statement and re.search(r"[^=!<>]=[^=]|\w\(|\+\+|--", statement[2]) and not re.match(r"[\w:<>,*& ]+ [\w]+( = .*|\{.*)?$", statement[2]):
                code.append((len(statement[1]), len(line), ";"))
            for operand in re.finditer(r"(?<![\w.)\]])(\w[\w.\[\]]*) (-|/|<<|>>) (\w[\w.\[\]]*)(?![\w(\[.])", line):
                code.append((operand.start(), operand.end(), f"{operand[3]} {operand[2]} {operand[1]}"))
            seen = set()
            for begin, end, new in code:
                changed = line[:begin] + new + line[end:]
                if changed != line and changed not in seen and outside_text(line, begin):
                    seen.add(changed)
                    out.append((number, line, changed))
        if closing is None:
            opening = re.search(r'R"(\w*)\(', line)
            if opening and f'){opening[1]}"' not in line[opening.end():]:
                closing = f'){opening[1]}"'
        elif closing in line:
            closing = None
    return out


# ---- running ---------------------------------------------------------------------------------------

def name_of(header):
    """The path by which units include it, without tenure/."""
    folder = root / ("kernels" if (root / "kernels") in header.parents else "include")
    return str(header.relative_to(folder / "tenure"))


@functools.cache
def expected_messages():
    found = {case.stem: re.search(r"// expect: (tenure: .*)", case.read_text()) for case in sorted((root / "tests/compile_fail").glob("*.cpp"))}
    return {case: m[1] for case, m in found.items() if m}


def tests_of_messages(header):
    """The must-not-compile tests that expect a message of this header."""
    said = [m for m in re.findall(r'"(tenure: [^"]*)"', header.read_text()) if len(m) > 20]
    built_with_mpi = ("mpi_", "nccl_")
    return [f"fail/{case}" for case, message in expected_messages().items() if not case.startswith(built_with_mpi) and any(re.match(message, m) for m in said)]


def tests_for(header):
    including = tests_including(header)
    return including[:nearest] + tests_of_messages(header) + including[nearest:nearest + further] if including else []


# What reads past an array may give the right result: these are tested under ASan. Kernels too, whose threads have stacks of their own: it
# warns of them, and sees what they read. Not the tests that count allocations or stop them.
reads_arrays = ("backend/", "eager/history", "kernels/", "interop/", "distributed/", "tensor/memory", "tensor/copy", "tensor/layout", "tensor/overlap", "math/packet/memory", "program/kernel", "program/walk", "program/bind")


def command(copy, test, header, cxx, program, main):
    folder = test.split("/")[0]
    flags = ["-std=c++20", "-O1" if folder in ("backend", "math") else "-O0", "-w", "-march=native", "-pthread", f'-DTENURE_SOURCE_DIR="{root}"']
    if name_of(header).startswith(reads_arrays) and folder not in ("threads", "out_of_memory"):
        flags += ["-fsanitize=address,bounds", "-fno-sanitize-recover=bounds"]
    includes = [f"-I{copy}/include", f"-I{copy}/kernels", f"-I{root}/tests", f"-I{root}", "-isystem", "/usr/include/eigen3"]
    if folder in ("cuda", "nccl"):  # runtimes of host code
        includes = [f"-I{root}/tests/nccl/fake", f"-I{root}/tests/cuda/fake", *includes]
        flags = [f for f in flags if not f.startswith(("-fsanitize", "-fno-sanitize"))] + ["-fsanitize=address"]
    if folder in ("mpi", "nccl"):
        cxx = "mpicxx"
    return ["nice", "-n", "19", cxx, *flags, *includes, *sources_of(test), main, "-o", program]


def misuse(copy, case, cxx):
    """The check of a must-not-compile test, as cmake/CompileFail.cmake has it."""
    compile_it = [cxx, "-std=c++20", "-fsyntax-only", "-fmax-errors=20", "-fmessage-length=0", "-Wno-ignored-attributes", f"-I{copy}/include", "-isystem", "/usr/include/eigen3"]
    script = ["cmake", f"-DSOURCE={case}", "-DCOMPILER_ID=GNU", "-P", str(root / "cmake/ExpectDiagnostic.cmake"), "--"]
    return ["nice", "-n", "19", *script, *compile_it, "-DTENURE_MISUSE", str(case)]


# As tenure_add_mpi_test of cmake/TenureDevelopment.cmake has them.
more_ranks_than_cores = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                         "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                         "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"}
on_own_stacks = {"ASAN_OPTIONS": "detect_stack_use_after_return=0"}  # as clang 15 does not by itself


def run(what, seconds, **more):
    """(exit status or None where the time was up, output). The seconds are those of a processor, so that other work on the machine kills no mutant."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # SIGXCPU, not SIGKILL as where memory ends
    try:
        done = subprocess.run(what, capture_output=True, text=True, errors="replace", timeout=20 * seconds, preexec_fn=limit, **more)
    except subprocess.TimeoutExpired:  # it waits for something
        return None, ""
    output = done.stdout + done.stderr
    # The compiler's driver reports the signal of the compiler proper.
    is_up = done.returncode == -signal.SIGXCPU or (done.returncode != 0 and "CPU time limit" in output)
    return (None if is_up else done.returncode), output


def judge(copy, header, options, main):
    """("lives" | "killed", by what, the first lines of the red test)"""
    for test in options.tests.split(",") if options.tests else tests_for(header):
        if test.startswith("fail/"):
            cases = sorted((root / "tests/compile_fail").glob(test.removeprefix("fail/") + ".cpp"))
            assert cases, f"no must-not-compile test is named {test}"
            for case in cases:
                status, said = run(misuse(copy, case, options.cxx), options.limit)
                if status != 0:
                    verdict = re.search(r"verdict: (.*)", said)
                    return ("killed", f"fail.{case.stem}", verdict[1] if verdict else said[-300:])
            continue
        program = str(copy / "test")
        status, said = run(command(copy, test, header, options.cxx, program, main), options.limit, env={**os.environ, "OMPI_CXX": options.cxx})
        if status != 0:
            errors = [line for line in said.split("\n") if "error:" in line] or ["the time is up" if status is None else said[-300:]]
            # The first error is the cause. What a constant evaluation refuses, an element past an array too, is C++ that gives a wrong graph.
            is_red = status is None or any(word in errors[0] for word in ("static assertion", "static_assert failed", "constant", "constexpr", "outside the bounds", "overflow", "uninitialized array element"))
            return ("killed" if is_red else "no C++", f"{test} does not compile", errors[0][:300])
        start, environment = [], {**os.environ, **on_own_stacks}
        if test.startswith(("mpi/", "nccl/")):
            start, environment = ["mpirun", "-n", "2"], {**os.environ, **more_ranks_than_cores}
        status, said = run([*start, program, "--abort"], 200, cwd=copy, env=environment)
        if status != 0:
            shown = said[said.find("FAILED"):] if "FAILED" in said else said
            return ("killed", f"{test}" + (" (time is up)" if status is None else ""), " | ".join(line.strip() for line in shown.split("\n")[:9] if line.strip())[:400])
    return ("lives", "", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="headers, or folders of them")
    parser.add_argument("-n", type=int, default=20, help="how many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=900, help="seconds of a processor for one build")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", default=[], help="a mutant by its name")
    parser.add_argument("--tests", help="the tests that it meets, in place of the nearest: laws/qr,fail/debug_nans_traced")
    options = parser.parse_args()

    headers = sorted({h.resolve() for p in options.paths for h in (p.rglob("*.hpp") if p.is_dir() else [p])})
    untested = [h for h in headers if not tests_for(h) and mutations_of(h)]
    headers = [h for h in headers if tests_for(h)]
    for h in untested:
        print(f"no test includes it, so no mutants: {h.relative_to(root)}", flush=True)
    all_mutants = []
    for h in headers:
        count = {}
        for number, line, changed in mutations_of(h):
            # A name that other edits of the file do not change: the words of the line, not its number.
            count[line] = count.get(line, 0) + 1
            all_mutants.append((f"{name_of(h)}: {line.strip()} -> {changed.strip()}", h, number, line, changed))
    listed = root / "scripts/mutants_equivalent.txt"
    reasons = {}
    for entry in listed.read_text().split("\n\n") if listed.exists() else []:
        lines = [line for line in entry.split("\n") if line and not line.startswith("#")]
        if lines:
            reasons[lines[0]] = " ".join(lines[1:])
    known = {m[0] for m in all_mutants}
    for name in reasons:
        if name not in known and name.split(": ")[0] in {name_of(h) for h in headers}:
            print(f"scripts/mutants_equivalent.txt names a line that is not there (any more, or on this processor): {name}", flush=True)
    if options.only:
        chosen = [m for m in all_mutants if m[0] in options.only]
    else:
        chosen = random.Random(options.seed).sample(all_mutants, min(options.n, len(all_mutants)))
    if options.list:
        for name, *_ in all_mutants:
            print(name)
        print(f"{len(all_mutants)} mutations of {len(headers)} headers")
        return 0

    scratch = Path(tempfile.mkdtemp(prefix="tenure-mutants-"))
    try:
        main_object = str(scratch / "main.o")
        subprocess.run([options.cxx, "-std=c++20", "-O0", "-c", str(root / "tests/main.cpp"), "-o", main_object], check=True)
        survivors, killed, skipped, not_cxx = [], 0, 0, 0

        def one(mutant):
            name, header, number, line, changed = mutant
            if name in reasons:
                return mutant, ("equivalent", "", reasons[name]), 0
            copy = Path(tempfile.mkdtemp(dir=scratch))
            for folder in ("include", "kernels"):
                shutil.copytree(root / folder, copy / folder)
            target = copy / header.relative_to(root)
            text = target.read_text().split("\n")
            text[number - 1] = changed
            target.write_text("\n".join(text))
            began = time.time()
            verdict = judge(copy, header, options, main_object)
            shutil.rmtree(copy, ignore_errors=True)
            return mutant, verdict, time.time() - began

        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, (verdict, by, message), seconds in pool.map(one, chosen):
                name, header, number, line, changed = mutant
                killed += verdict == "killed"
                skipped += verdict == "equivalent"
                not_cxx += verdict == "no C++"
                if verdict == "lives":
                    survivors.append(name)
                print(f"{verdict}  {header.relative_to(root)}:{number}  ({seconds:.0f} s)\n    - {line.strip()}\n    + {changed.strip()}")
                print(f"    {by}: {message}\n" if by else f"    {message}\n", flush=True)
        judged = killed + len(survivors)
        print("\n".join(["survivors:", *survivors]) if survivors else "no survivors")
        print(f"{killed} of {judged} killed ({100 * killed / max(judged, 1):.0f} %), {skipped} equivalent, {not_cxx} no C++; seed {options.seed}")
        return 1 if survivors else 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
