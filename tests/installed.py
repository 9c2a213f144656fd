# SPDX-License-Identifier: BSD-3-Clause
#
# What `meson install` puts where: exactly this. Arguments: the build directory, and below the prefix the folders of
# libraries, plugins and manuals. The packages say so too (debian/*.install): scripts/package fails when they do not agree.
import json
import re
import subprocess
import sys

build, prefix, libdir, plugin_dir, mandir, meson = sys.argv[1:7]
expected = {
    'bin/mosquitto_filter',
    'include/subfilter.h',
    f'{libdir}/libsubfilter.a',
    f'{libdir}/libsubfilter.so',
    f'{libdir}/libsubfilter.so.N',
    f'{libdir}/libsubfilter.so.N.N.N',
    f'{libdir}/pkgconfig/subfilter.pc',
    f'{plugin_dir}/mosquitto_subscription_filter.so',
    f'{mandir}/man1/mosquitto_filter.1',
    f'{mandir}/man5/mosquitto-subscription-filter.conf.5',
    f'{mandir}/man7/mosquitto-subscription-filter.7',
}
plan = json.loads(subprocess.run([meson, 'introspect', '--installed', build], check=True, capture_output=True).stdout)
found = set()
for path in plan.values():
    path = path.removeprefix(prefix + '/')
    found.add(re.sub(r'(\.so)((\.\d+)+)$', lambda m: m[1] + re.sub(r'\d+', 'N', m[2]), path))

for path in sorted(expected - found):
    print('missing:', path)
for path in sorted(found - expected):
    print('not expected:', path)
sys.exit(found != expected)
