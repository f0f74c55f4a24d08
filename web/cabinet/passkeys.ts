import { call } from './api.ts';
import { makePasskey } from './webauthn.ts';

/** What a passkey is called in the list: the system that it was made on. */
export function deviceName(agent = navigator.userAgent): string {
  const systems = [
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Android', 'Android'],
    ['Mac OS', 'Mac'],
    ['Windows', 'Windows'],
    ['CrOS', 'Chromebook'],
    ['Linux', 'Linux'],
  ] as const;
  return systems.find(([sign]) => agent.includes(sign))?.[1] ?? 'Passkey';
}

/** Registers a further passkey of the person who is signed in. It asks for one that exists first. */
export async function addPasskey(): Promise<void> {
  const { options } = await call('beginPasskey', {});
  const credential = await makePasskey(options);
  await call('addPasskey', { body: { credential, name: deviceName() } });
}
