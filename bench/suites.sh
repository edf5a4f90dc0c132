# What bench/run and bench/compare share; sourced by bash from the repository's root.

. cnf/java25.sh

# jemalloc keeps thread-local state that must fit into what the loader sets aside.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.rtld.optional_static_tls=16384}

# The suites: name, threads, benchmarks, and what is left out of them.
suites=(
  "provider 1 ProviderBenchmark granuleVmm"
  "provider 2 ProviderBenchmark granuleVmm"
  "vmm 1 ProviderBenchmark.granuleVmm -"
  "vmm 2 ProviderBenchmark.granuleVmm -"
  "engine 1 EngineBenchmark -"
  "ledger 1 LedgerBenchmark -"
  "ledger 2 LedgerBenchmark -"
  "cache 1 PagedCacheBenchmark -"
)

# Many short iterations: their median is then not moved by what else the machine does for a moment.
# Sets how long everything runs, and the sizes of allocations: settings full|quick
settings() {
  case $1 in
    full)
      times=(-f 2 -w 200ms -i 15 -r 150ms)
      sizes=64,4096,65536,2097152
      ;;
    quick)
      times=(-f 1 -w 150ms -i 12 -r 80ms)
      sizes=64,4096,65536,2097152
      ;;
  esac
}

# Builds the benchmarks of the tree in folder $1.
build() {
  (cd "$1" && ./mvnw --quiet --projects bench --also-make -DskipTests package)
}

# Runs a suite: suite JAR FOLDER "NAME THREADS BENCHMARKS OUT" [JMH options]
suite() {
  local jar=$1 folder=$2 name threads benchmarks out
  read -r name threads benchmarks out <<<"$3"
  shift 3
  # The engine has the most code to compile.
  local warmups=8
  [ "$name" != engine ] || warmups=20
  local options=("${times[@]}" -wi $warmups -t "$threads" -prof gc -foe false -rf json -rff "$folder/$name-$threads.json")
  if [ "$out" != - ]; then
    options+=(-e "$out")
  fi
  case $name in
    provider) options+=(-p "size=$sizes") ;;
    vmm) options+=(-p size=2097152) ;;
  esac
  "$JAVA_HOME/bin/java" -jar "$jar" "$benchmarks" "${options[@]}" "$@"
}
