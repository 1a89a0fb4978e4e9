#!/bin/bash
# Starts a Ceph of one node with its S3 gateway on loopback, for test/remote/s3/gateway.test.ts. Run it as root:
#   apt-get install -y ceph-mon ceph-osd radosgw ceph-common
#   scripts/ceph-up.sh [directory]
# The gateway is at http://127.0.0.1:7480, key AKTEST, secret SKTEST. Everything is in memory (2 GiB). The process ids are in *.pid files of
# the directory.
set -e
directory=${1:-${TMPDIR:-/tmp}/tare-ceph}
rm -rf "$directory"
mkdir -p "$directory"/{mon,osd,log,rgw}
cd "$directory"
fsid=$(uuidgen)
cat > ceph.conf <<CONF
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:3300/0,v1:127.0.0.1:6789/0]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = $directory/keyring
mon data = $directory/mon
osd data = $directory/osd
osd objectstore = memstore
memstore device bytes = 2147483648
osd memory target = 939524096
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
run dir = $directory
log file = $directory/log/\$name.log
admin socket = $directory/\$name.asok
pid file = $directory/\$name.pid
[osd]
keyring = $directory/osd/keyring
[client]
rgw frontends = beast endpoint=127.0.0.1:7480
rgw data = $directory/rgw
rgw dns name = localhost
CONF
export CEPH_CONF=$directory/ceph.conf

monmaptool --create --fsid "$fsid" --addv a '[v2:127.0.0.1:3300,v1:127.0.0.1:6789]' monmap > /dev/null
ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *' > /dev/null
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *' > /dev/null
ceph-mon --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -i a

disk=$(uuidgen)
ceph osd new "$disk" > /dev/null
key=$(ceph-authtool --gen-print-key)
ceph-authtool --create-keyring osd/keyring -n osd.0 --add-key "$key" > /dev/null
ceph auth add osd.0 osd 'allow *' mon 'allow profile osd' -i osd/keyring 2> /dev/null
ceph-osd -i 0 --mkfs --osd-uuid "$disk" > /dev/null 2>&1
ceph osd crush add 0 1.0 host=localhost root=default 2> /dev/null
ceph-osd -i 0
for _ in $(seq 60); do ceph osd stat 2> /dev/null | grep -q '1 up' && break; sleep 1; done

radosgw -n client.admin
for _ in $(seq 60); do curl -s -o /dev/null http://127.0.0.1:7480/ && break; sleep 1; done
radosgw-admin user create --uid test --display-name test --access-key AKTEST --secret-key SKTEST > /dev/null
echo 'http://127.0.0.1:7480'
