#!/bin/sh
# Proves that a build can be repeated: builds the tree twice from nothing and compares every archive.
#
#   cnf/reproducible.sh
#
# Prints the SHA-256 sum of each archive and ends with status 0 when both builds gave the same ones, else shows which
# differ and ends with 1. Takes two full builds without tests. The sums are the same on every machine with the same
# release of the JDK; another release compiles to other class files.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
sums=$(mktemp -d)
trap 'rm -rf "$sums"' EXIT
trap 'exit 1' HUP INT TERM

cd "$root"
for run in 1 2; do
  ./mvnw -B -q clean package -DskipTests
  find . -path '*/target/*.jar' ! -path '*/target/*/*' -type f | sort | while read -r file; do
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$file"; else shasum -a 256 "$file"; fi
  done >"$sums/$run"
done

[ -s "$sums/1" ] || { echo "No archive was built." >&2; exit 1; }
diff "$sums/1" "$sums/2" || { echo "These archives differ between two builds." >&2; exit 1; }
cat "$sums/1"
