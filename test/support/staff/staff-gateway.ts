import { StaffAuthenticator } from '../../../src/accounts/staff/staff-authenticator.ts';
import type { StaffRole } from '../../../src/accounts/staff/staff-member.entity.ts';
import { StaffSessions } from '../../../src/accounts/staff/staff-sessions.ts';
import { openHasher } from '../../../src/app/bootstrap.ts';
import { TestClock } from '../gateway/clock.ts';
import { startGateway, type TestGateway } from '../gateway/gateway.ts';
import { StaffBrowser } from './staff-browser.ts';

export const minute = 60_000;
export const clock = new TestClock();
export let gateway: TestGateway;
export let authenticator: StaffAuthenticator;
export let sessions: StaffSessions;
export let members = 0;

export const browser = () => new StaffBrowser(gateway.app.internalUrl);

export async function newMember(role: StaffRole = 'operator') {
  const { member, token } = await gateway.staff.create(`member${++members}@example.com`, role);
  return { member, token };
}

export async function signedIn(role?: StaffRole) {
  const { member, token } = await newMember(role);
  const own = browser();
  expect((await own.post('/sign-in', { token })).status).toBe(303);
  return { own, member, token, secret: own.cookies.get('__Host-staff') ?? '' };
}

/** Does something to a member in a transaction, as the callers of the service do. */
export function change<T>(action: (em: Parameters<typeof gateway.staff.revoke>[0]) => Promise<T>): Promise<T> {
  return gateway.app.orm.em.fork().transactional(action);
}

export async function isSignedIn(own: StaffBrowser): Promise<boolean> {
  return (await (await own.get('/sign-in')).text()).includes('Signed in as');
}

/** Starts a gateway for the tests of the file, on a clock of theirs. */
export function withStaffGateway(): void {
  beforeAll(async () => {
    gateway = await startGateway({ outside: { clock, background: false } });
    const { orm } = gateway.app;
    authenticator = new StaffAuthenticator(orm, await openHasher(gateway.config, orm), clock);
    sessions = new StaffSessions(orm, authenticator, clock);
  });
  afterAll(() => gateway?.stop());
}
