import { createHash, createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const secretBytes = 32;

/** A new signing secret of 256 random bits. */
export function newSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** The form in which a partner gets a secret. */
export function secretText(secret: Buffer): string {
  return prefix + secret.toString('base64');
}

/** Tells a secret from others without being it. The secret has too many bits to be guessed. */
export function secretMark(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

interface SignedMessage {
  /** The same for every attempt. */
  readonly id: string;
  readonly at: Date;
  readonly body: string;
}

/**
 * The headers of Standard Webhooks 1.0: https://github.com/standard-webhooks/standard-webhooks
 *
 * @param secrets One signature for each, in this order: the new secret first during a rotation.
 */
export function signatureHeaders({ id, at, body }: SignedMessage, secrets: readonly Buffer[]): Record<string, string> {
  const seconds = Math.floor(at.getTime() / 1000);
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', secret).update(`${id}.${seconds}.`).update(body).digest('base64');
    return `v1,${mac}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') };
}
