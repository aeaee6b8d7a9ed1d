# What ./pastcone and ./test share: the Debian packages they need and the build. Sourced by bash, not run; the one
# who sources it has set `root` to the top of the source tree.
#
# Nothing here changes the working directory or exports a variable: what ./pastcone starts sees the user's own.

build_packages=(
  g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libexpected-dev libzstd-dev
  libxxhash-dev libzydis-dev libgtest-dev libbenchmark-dev libelf-dev libdw-dev zlib1g-dev libsqlite3-dev libedit-dev
  gdb # which the debugger drives
)
# Programs that the end-to-end tests record, and clang for the fuzzers.
test_packages=(
  redis-server redis-tools nginx-light memcached sqlite3 curl stress-ng openssl python3 gcc make perl procps
  strace valgrind musl-tools clang libclang-rt-14-dev postgresql-15 fzf age pigz pbzip2 xz-utils x265 graphviz
)
# Services among them. They are not started, and not enabled for the next boot.
test_services=(redis-server nginx memcached postgresql)

say() { echo "pastcone: $*" >&2; }

# --- packages ---------------------------------------------------------------------------------------------------

# find_missing PACKAGE…: sets `missing` to those that are not installed.
find_missing() {
  local installed package
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null)
  missing=()
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
  done
}

# Runs as root, by sh -c, with the packages to install as arguments. Services are kept from starting by
# policy-rc.d, Debian's own way to say so; one that is there already comes back afterwards.
install_as_root='
  policy=/usr/sbin/policy-rc.d
  saved=$policy.saved-by-pastcone
  ours="# Written by the set-up of pastcone while it installs packages; safe to remove."
  restore() {
    if grep -qsxF "$ours" $policy; then rm -f $policy; fi
    if [ -e $saved ] || [ -L $saved ]; then mv -f $saved $policy; fi
  }
  restore # what a killed set-up left
  trap restore EXIT
  trap "exit 1" INT TERM HUP
  if [ -e $policy ] || [ -L $policy ]; then mv $policy $saved || exit; fi
  printf "%s\n" "#!/bin/sh" "$ours" "exit 101" >$policy && chmod 755 $policy || exit

  disable=$1
  shift
  export DEBIAN_FRONTEND=noninteractive
  install() { apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"; }
  update() { apt-get -o DPkg::Lock::Timeout=300 update; }
  if ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
    install "$@" || { update && install "$@"; } || exit # lists may be too old for the mirror
  else
    update && install "$@" || exit
  fi
  for service in $disable; do
    [ ! -e /etc/init.d/$service ] || update-rc.d $service disable
  done
'

# install_packages PACKAGE…: installs what is missing, or says what to type and returns 1.
install_packages() {
  local missing=() service disable='' log status=0
  if ! command -v dpkg-query >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return
    say "this is not Debian: please install what these packages hold and try again: $*"
    return 1
  fi
  find_missing "$@"
  (( ${#missing[@]} )) || return 0

  local sudo=()
  if (( EUID != 0 )); then
    sudo=(sudo -n)
    if ! { command -v sudo && sudo -n true; } >/dev/null 2>&1; then
      say "some packages are missing and only root can install them. Please run"
      echo "  sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
  fi
  for service in "${test_services[@]}"; do
    # A service that was there before keeps its state. (nginx comes in several packages.)
    [[ -e /etc/init.d/$service ]] || disable+=" $service"
  done
  say "installing ${#missing[@]} missing Debian package(s), once …"
  log=$(mktemp) || return 1
  "${sudo[@]}" sh -c "$install_as_root" install "$disable" "${missing[@]}" >"$log" 2>&1 </dev/null || status=$?
  if (( status )); then
    tail -n 20 "$log" >&2
    say "installing packages failed (above); the command was: apt-get install ${missing[*]}"
  fi
  rm -f "$log"
  return "$status"
}

# --- the build --------------------------------------------------------------------------------------------------

# choose_build SUFFIX: sets `build` to where this tree is built: build/ in the tree, or a directory in the user's
# cache if there is none yet and the tree cannot be written. SUFFIX ('' or, say, -fuzz) sets variants apart.
choose_build() {
  build=$root/build$1
  [[ -w $build || -x $build/bin/pastcone || ( -w $root && ! -e $build ) ]] && return
  local cache=${XDG_CACHE_HOME:-} hash
  [[ $cache == /* ]] || cache=~/.cache
  hash=$(printf %s "$root" | sha256sum)
  build=$cache/pastcone/build$1-${hash:0:16}
}

# build_is_current: whether $build holds a pastcone no older than the sources. Takes a few milliseconds.
build_is_current() {
  [[ -x $build/bin/pastcone ]] || return 1
  [[ -w $build ]] || return 0 # somebody else's build: theirs to keep up to date
  [[ -e $build/.built ]] || return 1
  [[ -z $(find "$root/src" "$root/cmake" "$root/examples" "$root/CMakeLists.txt" -newer "$build/.built" \
    -print -quit 2>/dev/null) ]]
}

# run_build [CMAKE OPTION…] [-- TARGET…]: brings $build up to date. Quiet: the log is in $build/build.log, and its
# end is shown if the build fails. One at a time per directory.
run_build() {
  local options=() status=0
  while (( $# )) && [[ $1 != -- ]]; do options+=("$1") && shift; done
  (( $# )) && shift
  mkdir -p "$build" || return 1
  {
    flock 9
    # A tree that was copied or moved together with its build/ starts again.
    if [[ -e $build/CMakeCache.txt &&
      ! $(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt") -ef $root ]]; then
      find "$build" -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +
    fi
    touch "$build/.building" # before the build, so that what is edited during it counts as newer
    {
      { [[ -e $build/build.ninja ]] || cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}"; } &&
        ninja -C "$build" "$@"
    } >"$build/build.log" 2>&1 </dev/null 9>&- || status=$?
    if (( status == 0 )); then mv -f "$build/.building" "$build/.built"; fi
  } 9>"$build/.lock"
  if (( status )); then
    tail -n 40 "$build/build.log" >&2
    say "the build failed (above; all of it is in $build/build.log)"
  fi
  return "$status"
}
