import { generateKeyPairSync, sign } from 'node:crypto';
import { cborBytes, cborText, type Statement } from './soft-authenticator.ts';

/** DER of a value. Its content has fewer than 65,536 bytes. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const ecdsaWithSha256 = der(0x30, hex('06082a8648ce3d040302'));

/** A part of a name: C (06), O (0a), OU (0b) or CN (03). */
const named = (type: number, text: string): Buffer =>
  der(0x31, der(0x30, der(0x06, Buffer.from([0x55, 0x04, type])), der(0x0c, Buffer.from(text))));

const alg = Buffer.concat([cborText('alg'), Buffer.from([0x26])]);
const sig = (signature: Buffer): Buffer => Buffer.concat([cborText('sig'), cborBytes(signature)]);

/** The attestation `packed` with the certificate of its maker, as a company has it. */
export const certified: Statement = (signed) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(
    0x30,
    named(0x06, 'NO'),
    named(0x0a, 'Any'),
    named(0x0b, 'Authenticator Attestation'),
    named(0x03, 'Any key'),
  );
  const times = der(0x30, der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from('20990101000000Z')));
  const noAuthority = der(0x30, der(0x30, hex('0603551d13'), der(0x04, der(0x30))));
  const body = der(
    0x30,
    der(0xa0, hex('020102')),
    hex('020101'),
    ecdsaWithSha256,
    name,
    times,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, noAuthority),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = der(0x30, body, ecdsaWithSha256, signature);
  const chain = Buffer.concat([cborText('x5c'), Buffer.from([0x81]), cborBytes(certificate)]);
  return Buffer.concat([Buffer.from([0xa3]), alg, sig(sign('sha256', signed, privateKey)), chain]);
};

/** The attestation `packed` by the key of the passkey itself. */
export const ownSigned: Statement = (signed, own) =>
  Buffer.concat([Buffer.from([0xa2]), alg, sig(sign('sha256', signed, own))]);
