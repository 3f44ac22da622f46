# SPDX-License-Identifier: Apache-2.0
# Heddle for Spack. docs/install.md. Unchecked: no computer that builds this tree has Spack.
#   spack create --skip-editor --template cmake --name heddle; cp packaging/spack/package.py $(spack location -p heddle)
#   spack dev-build heddle@main
from spack.package import *


class Heddle(CMakePackage):
    """A cycle-level simulator of SIMT GPUs whose core can be rewired."""

    license("Apache-2.0")

    # A release adds its tarball: version("1.0.0", sha256=...) with the url of where it is published.
    version("main", branch="main", git="https://heddle.example/heddle.git")

    variant("opencl", default=True, description="kernels in OpenCL C and CUDA, the OpenCL device")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("node-js@18:", type="build")
    depends_on("libyaml")
    depends_on("jansson")
    depends_on("xxhash")
    depends_on("sqlite")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("opencl-c-headers", type="build", when="+opencl")
    depends_on("ocl-icd", when="+opencl")
    depends_on("llvm@19 +clang +libclc targets=nvptx", type=("build", "run"), when="+opencl")

    generator("ninja")

    def cmake_args(self):
        return ["-DHEDDLE_TESTS=OFF"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def first_run(self):
        Executable(join_path(self.prefix.bin, "heddle"))("run", "examples/warp_sum", "--quiet")
