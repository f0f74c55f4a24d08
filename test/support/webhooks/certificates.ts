import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate that signs itself, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Makes a certificate for names. It needs `openssl`. */
export async function makeCertificate(names: readonly string[], days = 2): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-cert-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const [first = ''] = names;
    await run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', String(days), '-subj', `/CN=${first}`, '-keyout', key, '-out', cert],
      ...['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`],
    ]);
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
