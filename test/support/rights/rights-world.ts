import { execFileSync } from 'node:child_process';
import { type MemberRole, memberRoles } from '../../../src/accounts/members/rights.ts';
import { keyScopes } from '../../../src/accounts/partners/key-scope.ts';
import { type StaffRole, staffRoles } from '../../../src/accounts/staff/staff-member.entity.ts';
import { cabinetPeople } from '../../../src/app/services.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { OrderStats } from '../../../src/operations/order-stats.ts';
import { CabinetClient, cabinetOrigin, cabinetSettings, forgetLink } from '../cabinet/cabinet-client.ts';
import { feedCatchesUp } from '../gateway/orders.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../gateway/settled-gateway.ts';
import { StaffBrowser } from '../staff/staff-browser.ts';
import { type Member, newMember } from '../staff/staff-client.ts';

export type { MemberRole, StaffRole };
// What the table of rights needs of the source is imported in this file only.
export { addressExample, cabinetOrigin, keyScopes, memberRoles, staffRoles };

/** A partner with a key of all scopes and an owner in the cabinet. */
export interface Account {
  readonly id: string;
  readonly key: string;
  readonly owner: CabinetClient;
  readonly ownerId: string;
}

/** A gateway with callers of every kind. */
export interface RightsWorld {
  readonly gateway: SettledGateway;
  readonly restUrl: string;
  readonly internalUrl: string;
  /** The partner whose objects are asked for. */
  readonly main: Account;
  readonly other: Account;
  /** A completed order of the main partner, in its statement. */
  readonly completed: MadeOrder;
  readonly staff: Readonly<Record<StaffRole, Member>>;
  /** An admin who proposes and makes what others decide. */
  readonly otherAdmin: Member;
  /** The `Cookie` header of an admin who is signed in. */
  readonly adminCookie: string;
  /** A cookie of staff, and one of a member, whose time is over. */
  readonly expired: { readonly staffCookie: string; readonly memberCookie: string };
  account(name: string): Promise<Account>;
  /** The `Cookie` header of a new session of staff. */
  signedIn(member: Member): Promise<string>;
  /** A member of a partner, in a browser that is signed in. */
  member(partnerId: string, role: MemberRole): Promise<CabinetClient>;
  /** An invitation to a partner. It ends the earlier ones, as a partner has few at a time. */
  invitation(partnerId: string, role: MemberRole): Promise<{ readonly id: string; readonly link: string }>;
  endInvitations(partnerId: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** Longer than any session lasts. */
const sessionMs = 13 * 3_600_000;

/** The `Cookie` header of a member's browser. */
export const memberCookie = ({ cookie }: CabinetClient): string => `__Host-partner=${cookie}`;

/** Starts one gateway with limits that no cell reaches. */
export async function startRightsWorld(): Promise<RightsWorld> {
  // In another process, because the bundler does not load inside the test runner.
  execFileSync(process.execPath, ['tools/build-web.js'], { stdio: 'inherit' });
  const gateway = await startSettledGateway({
    settings: {
      ...cabinetSettings,
      PLAYGROUND: 'true',
      RATE_LIMIT_STAFF_PER_MIN: '100000',
      RATE_LIMIT_QUOTES_PER_MIN: '100000',
      WEBHOOK_ALLOW_LOOPBACK: 'on',
    },
    // Endpoints are sent to for a test of them. Their host is this machine, where nothing listens.
    outside: { receivers: { resolve: async () => ['127.0.0.1'] } },
  });
  const { internalUrl, restUrl = '' } = gateway.app;
  if (!restUrl) throw new Error('this gateway serves no partners');

  const signedIn = async ({ token }: Member): Promise<string> => {
    const browser = new StaffBrowser(internalUrl);
    const { status } = await browser.post('/sign-in', { token });
    if (status !== 303) throw new Error(`signing in: ${status}`);
    return browser.cookie;
  };
  const endInvitations = (partnerId: string) =>
    gateway.query('update partner_invitation set ended_at = $2 where partner_id = $1 and ended_at is null', [
      partnerId,
      gateway.clock.now(),
    ]);
  const invitation = async (partnerId: string, role: MemberRole) => {
    await endInvitations(partnerId);
    const { members } = cabinetPeople(gateway.app.orm, gateway.clock, cabinetOrigin);
    const { invitation: made, link } = await members.invite(partnerId, { name: `A ${role}`, role }, null);
    return { id: made.id, link };
  };
  const member = async (partnerId: string, role: MemberRole): Promise<CabinetClient> => {
    const client = new CabinetClient(restUrl);
    const accepted = await client.accept((await invitation(partnerId, role)).link);
    if (accepted.status !== 200) throw new Error(accepted.text);
    await forgetLink(gateway.query, accepted);
    return client;
  };
  const accountOf = async (id: string, key: string): Promise<Account> => {
    // With other prices than the public's, an answer shows for whom it is.
    await gateway.partners.change(id, {
      feeRateFloat: '0',
      publicStatus: true,
      orderPage: true,
      displayName: 'Wallet',
    });
    const owner = await member(id, 'owner');
    return { id, key, owner, ownerId: (await owner.done('GET', '/session')).member.id };
  };
  const account = async (name: string): Promise<Account> => {
    const { id } = await gateway.partners.create(name);
    return accountOf(id, (await gateway.partners.issueKey(id, { scopes: keyScopes })).key);
  };

  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from api_key where key_id = $1', [
    gateway.key.split('.')[0],
  ]);
  const mainId = row?.partner_id ?? '';
  const admin = await newMember(gateway, 'admin');
  const expired = {
    staffCookie: await signedIn(admin),
    memberCookie: memberCookie(await member(mainId, 'owner')),
  };
  gateway.clock.advance(sessionMs);
  await gateway.app.prices.refresh(gateway.app.catalogue.coins());

  const main = await accountOf(mainId, gateway.key);
  const other = await account('Other shop');
  const completed = await gateway.order();
  await gateway.deposit(completed);
  await gateway.settle(completed);
  await feedCatchesUp(gateway.query);
  await new OrderStats(gateway.app.orm).rollUp();

  const staff = {
    viewer: await newMember(gateway, 'viewer'),
    support: await newMember(gateway, 'support'),
    operator: await newMember(gateway, 'operator'),
    admin,
  };
  return {
    gateway,
    restUrl,
    internalUrl,
    main,
    other,
    completed,
    staff,
    otherAdmin: await newMember(gateway, 'admin'),
    adminCookie: await signedIn(admin),
    expired,
    account,
    signedIn,
    member,
    invitation,
    endInvitations,
    stop: () => gateway.stop(),
  };
}
