# Finds a JDK 25 or later: to be sourced by a POSIX shell. Sets and exports JAVA_HOME, or prints one line and exits.

# The major version of the JDK in folder $1, or nothing.
jdk_version() {
  [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] && [ -r "$1/release" ] || return 0
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release"
}

find_jdk() {
  on_path=
  if command -v java >/dev/null 2>&1; then
    on_path=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
  fi
  on_mac=
  if [ -x /usr/libexec/java_home ]; then
    on_mac=$(/usr/libexec/java_home -v 25+ 2>/dev/null) || on_mac=
  fi
  for jdk in "${JAVA_HOME-}" "$on_path" "$on_mac" \
    /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
    "${SDKMAN_DIR-$HOME/.sdkman}"/candidates/java/* "$HOME"/.jdks/* \
    /Library/Java/JavaVirtualMachines/*/Contents/Home "$HOME"/Library/Java/JavaVirtualMachines/*/Contents/Home \
    /opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home; do
    version=$(jdk_version "$jdk")
    if [ -n "$version" ] && [ "$version" -ge 25 ]; then
      JAVA_HOME=$jdk
      export JAVA_HOME
      return 0
    fi
  done
  echo "Granule needs a JDK of version 25 or later and found none: install one, for example Eclipse Temurin 25, or set JAVA_HOME to it." >&2
  exit 1
}

find_jdk
