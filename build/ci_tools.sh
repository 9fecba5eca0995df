#!/bin/sh
# System tools that some tests and checks need. In CI, as root on a Debian-like machine, the missing ones are installed;
# anywhere else nothing is done: those tests then skip and say why.
set -eu
[ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
missing=""
for tool in gcc clang valgrind; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
[ -n "$missing" ] || exit 0
# valgrind needs the symbols of the C library; gcc its headers.
echo "installing$missing"
apt-get update -q >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing libc6-dev libc6-dbg >/dev/null
