// Certificates for tests of TLS: an authority, and what it signs.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The reason why tests of TLS are skipped here, or false. */
export const skipped: string | false =
  spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

/** Run openssl in a directory. Errors carry what it says. */
export function openssl(directory: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { cwd: directory, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const address = 'address.cnf'

/** Makes an authority and certificates for 127.0.0.1 that it signs: `<authority>.pem`, `<name>.pem` and `<name>.key`. */
export function makeCertificates(directory: string, authority: string, ...names: readonly string[]): void {
  const of = ['-subj', `/CN=${authority}`, '-keyout', `${authority}.key`, '-out', `${authority}.pem`]
  openssl(directory, 'req', '-x509', ...newKey, '-days', '2', ...of)
  writeFileSync(join(directory, address), 'subjectAltName=IP:127.0.0.1\n')
  for (const name of names) {
    const asked = ['-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`]
    openssl(directory, 'req', ...newKey, ...asked)
    const by = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-CAcreateserial']
    const to = ['-extfile', address, '-out', `${name}.pem`, '-days', '2']
    openssl(directory, 'x509', '-req', '-in', `${name}.csr`, ...by, ...to)
  }
}
