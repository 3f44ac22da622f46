# SPDX-License-Identifier: Apache-2.0
# Heddle for Nix. docs/install.md. Unchecked: no computer that builds this tree has Nix.
#   nix-build packaging && result/bin/heddle run examples/saxpy
{ pkgs ? import <nixpkgs> { } }:

let
  header = builtins.readFile ../include/heddle.h;
  number = name: builtins.head (builtins.match ".*#define HEDDLE_VERSION_${name} ([0-9]+).*" header);
  label = builtins.head (builtins.match ".*#define HEDDLE_VERSION_LABEL \"([^\"]*)\".*" header);
in
pkgs.stdenv.mkDerivation {
  pname = "heddle";
  version = "${number "MAJOR"}.${number "MINOR"}.${number "PATCH"}${label}";
  src = pkgs.lib.cleanSource ../.;
  nativeBuildInputs = with pkgs; [ cmake ninja pkg-config nodejs makeWrapper ];
  buildInputs = with pkgs; [ libyaml jansson xxHash sqlite zstd lz4 opencl-headers ocl-icd ];
  cmakeFlags = [ "-DHEDDLE_TESTS=OFF" ];
  # Kernels in OpenCL C and CUDA are compiled by clang 19 with libclc of the same release; PTX needs neither.
  postInstall = ''
    wrapProgram $out/bin/heddle --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.llvmPackages_19.clang-unwrapped ]}
  '';
  doInstallCheck = true;
  installCheckPhase = "$out/bin/heddle run examples/warp_sum --quiet";
  meta = {
    description = "Cycle-level simulator of SIMT GPUs";
    license = pkgs.lib.licenses.asl20;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
    mainProgram = "heddle";
  };
}
