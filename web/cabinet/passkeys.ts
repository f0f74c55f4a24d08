import { call } from './api.ts';
import { deviceName } from './passkey-names.ts';
import { makePasskey } from './webauthn.ts';

/** Registers a further passkey of the person who is signed in, and asks for a known one. */
export async function addPasskey(): Promise<void> {
  const { options } = await call('beginPasskey', {});
  const credential = await makePasskey(options);
  await call('addPasskey', { body: { credential, name: deviceName() } });
}
