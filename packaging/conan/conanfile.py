# SPDX-License-Identifier: BSL-1.0
"""The Conan recipe: conan create packaging/conan. It packs the checkout that it stands in."""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.scm import Version


class Tenure(ConanFile):
    name = "tenure"
    description = "A compile-time tensor library with ownership and gradients in the type"
    license = "BSL-1.0"
    topics = ("tensor", "autodiff", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def root(self):
        return Path(self.recipe_folder).parent.parent

    def set_version(self):
        number = int(re.search(r"define TENURE_VERSION (\d+)", (self.root / "include/tenure/version.hpp").read_text())[1])
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "kernels/*"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def requirements(self):
        self.requires("eigen/[>=3.4 <6]")
        self.requires("boost/[>=1.74 <2]", options={"header_only": True})

    def validate(self):
        check_min_cppstd(self, 20)
        oldest = {"gcc": "12", "clang": "14", "apple-clang": "15"}.get(str(self.settings.compiler))
        if oldest is None or Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration("tenure needs g++ 12 or newer, or clang 14 or newer")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("BUILD_TESTING", "TENURE_BUILD_BENCH", "TENURE_BUILD_EXAMPLES"):
            toolchain.cache_variables[name] = False
        toolchain.cache_variables["TENURE_CUDA"] = "OFF"
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # The package's own tenureConfig.cmake, which has more targets than Conan would write.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["share/cmake/tenure"]
        self.cpp_info.set_property("pkg_config_name", "tenure")
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
