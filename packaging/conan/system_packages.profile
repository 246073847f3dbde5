# SPDX-License-Identifier: BSL-1.0
# A profile that takes Eigen and Boost from the system, as Debian's packages libeigen3-dev and libboost-dev:
#   conan create packaging/conan -pr:a packaging/conan/system_packages.profile
{% set compiler, version, compiler_exe = detect_api.detect_default_compiler() %}
[settings]
arch={{detect_api.detect_arch()}}
build_type=Release
compiler={{compiler}}
compiler.cppstd=20
compiler.libcxx={{detect_api.detect_libcxx(compiler, version, compiler_exe)}}
compiler.version={{detect_api.default_compiler_version(compiler, version)}}
os=Linux

[platform_requires]
boost/1.74.0
eigen/3.4.0

[conf]
tools.cmake.cmaketoolchain:generator=Ninja
