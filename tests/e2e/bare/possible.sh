#!/bin/sh
# possible.sh - print why no bare Debian can be made here; nothing when one can.
mirror=${SKILLOPT_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
  'Created-By: Packages' 2>/dev/null | sed -n 's|/* bookworm$||p' | head -n 1)}
[ "$(id -u)" -eq 0 ] || { echo "not root"; exit; }
for tool in debootstrap unshare ip chroot; do
  command -v $tool >/dev/null || { echo "no $tool here"; exit; }
done
unshare --mount --pid --net --fork true 2>/dev/null || {
  echo "namespaces are not permitted"
  exit
}
helper=/usr/lib/apt/apt-helper
[ -x $helper ] || { echo "no apt here"; exit; }
file=$(mktemp)
timeout 60 $helper download-file "$mirror/dists/bookworm/Release" "$file" >/dev/null 2>&1 ||
  echo "the mirror $mirror cannot be reached"
rm -f "$file"
