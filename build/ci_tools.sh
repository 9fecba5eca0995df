#!/bin/sh
# System tools that some tests and checks need. In CI, as root on a Debian-like machine, the missing ones are installed;
# anywhere else nothing is done: those tests then skip and say why.
set -eu
[ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
missing=""
for tool in gcc clang tcc valgrind strace; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
# The fuzz targets of tests/fuzz are guided by coverage with clang's libFuzzer.
[ -e "$(clang -print-file-name=libclang_rt.fuzzer-$(uname -m).a 2>/dev/null)" ] || missing="$missing libclang-rt-dev"
# FMUs of other platforms: Windows under wine, aarch64 under qemu with a C library to load. libtbb is for the master ecospy.
[ -e /usr/lib/wine/wine64 ] || command -v wine64 >/dev/null || missing="$missing wine64"
command -v qemu-aarch64 >/dev/null || missing="$missing qemu-user"
[ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || missing="$missing libc6-arm64-cross"
ldconfig -p | grep -q 'libtbb\.so\.12' || missing="$missing libtbb12"
# Finite elements: CalculiX, and the libraries that the mesh generator gmsh loads.
command -v ccx >/dev/null || missing="$missing calculix-ccx"
for pair in libGLU.so.1:libglu1-mesa libGL.so.1:libgl1 libXrender.so.1:libxrender1 libXcursor.so.1:libxcursor1 \
  libXfixes.so.3:libxfixes3 libXext.so.6:libxext6 libXft.so.2:libxft2 libfontconfig.so.1:libfontconfig1 \
  libXinerama.so.1:libxinerama1 libX11.so.6:libx11-6 libgomp.so.1:libgomp1; do
  ldconfig -p | grep -q "${pair%%:*} " || missing="$missing ${pair##*:}"
done
# The report is opened in a browser; without a font Chromium does not start.
command -v chromium >/dev/null || missing="$missing chromium fonts-dejavu-core"
[ -n "$missing" ] || exit 0
# valgrind needs the symbols of the C library; gcc its headers.
echo "installing$missing"
apt-get update -q >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing libc6-dev libc6-dbg >/dev/null
