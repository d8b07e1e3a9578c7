#!/bin/sh
# deb.sh - write skillopt_VERSION_ARCHITECTURE.deb, for `apt install ./skillopt_*.deb`.
# BUILD, SHIPPED and VERSION as in the Makefile. What it depends on is read off the program.
set -eu
stage=$(pwd)/build/deb
architecture=$(dpkg --print-architecture)
package=skillopt_${VERSION:?}_$architecture.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

rm -rf "$stage"
mkdir -p "$stage/DEBIAN" build/deb-control/debian
PREFIX=/usr DESTDIR=$stage sh packaging/install.sh install
rm "$stage/usr/share/skillopt/MANIFEST" # dpkg has its own
strip --strip-unneeded "$stage/usr/bin/skillopt"
gzip -9n "$stage/usr/share/man/man1/skillopt.1"
gzip -9n "$stage/usr/share/doc/skillopt/CHANGELOG.md"
mv "$stage/usr/share/doc/skillopt/CHANGELOG.md.gz" "$stage/usr/share/doc/skillopt/changelog.gz"
mv "$stage/usr/share/doc/skillopt/LICENSE" "$stage/usr/share/doc/skillopt/copyright"

# dpkg-shlibdeps wants to stand beside a debian/control. libcurl and libzip are loaded when
# they are needed (runtime/io/late.h), so the program does not name them: they are looked up by
# their files.
owner() { dpkg -S "*/$1" | head -n 1 | cut -d: -f1; }
curl=$(owner libcurl.so.4)
zip=$(owner "$(basename "$(readlink -f "$(gcc -print-file-name=libzip.so)")")")
[ -n "$curl" ] && [ -n "$zip" ]
printf 'Source: skillopt\n\nPackage: skillopt\nArchitecture: any\n' >build/deb-control/debian/control
depends=$(cd build/deb-control && dpkg-shlibdeps -O "-e$stage/usr/bin/skillopt" |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ]

cat >"$stage/DEBIAN/control" <<CONTROL
Package: skillopt
Version: $VERSION
Architecture: $architecture
Maintainer: the skillopt authors <skillopt@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends, $curl, $zip, ca-certificates
Section: science
Priority: optional
Description: train a skill for a frozen language-model agent
 A skill is one Markdown document. skillopt trains it the way a network is
 trained: epochs, minibatches, a learning rate counted in edits and a gate that
 validates each candidate. The model's weights never change.
CONTROL
(cd "$stage" && find usr -type f -exec md5sum {} +) | LC_ALL=C sort -k 2 >"$stage/DEBIAN/md5sums"
dpkg-deb --root-owner-group --build "$stage" "$package"
