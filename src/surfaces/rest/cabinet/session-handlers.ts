import { rightsOf } from '../../../accounts/members/rights.ts';
import type { MemberCaller } from '../../../accounts/members/sessions.ts';
import { addressPrefix } from '../../../base/limits/client-address.ts';
import { type Call, memberOf, sessionOf } from '../api/call.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers, Schemas } from './contract.ts';
import { endedCookie, sessionCookie } from './session-cookie.ts';
import { memberView, optionsView, text, usualPasskeyName } from './views.ts';

/** How a session begins and ends: with a passkey, or with the first passkey of an invitation. */
export function signInHandlers(parts: CabinetParts) {
  const { passkeys, sessions, members, audit, commissionAddresses } = parts;
  const originOf = (call: Call) => ({
    network: addressPrefix(call.client.address),
    browser: call.header('user-agent') ?? '',
  });
  const started = async (secret: string) => {
    const member = await sessions.find(secret, false);
    if (!member) throw new Error('the session that began has ended');
    return { body: await me(parts, member), headers: { 'Set-Cookie': sessionCookie(secret) } };
  };
  return {
    beginSignIn: async () => ({
      body: { options: optionsView(await passkeys.beginUse({ purpose: 'sign_in' }, null)) },
    }),
    signIn: async ({ body, call }) => {
      const member = sessionOf(call);
      const secret = await passkeys.proveSignIn(body.credential, (em, memberId) =>
        sessions.start(memberId, originOf(call), em),
      );
      // A session that the browser had before ends, so that no other person goes on with it.
      if (member) await sessions.end(member.memberId, member.sessionId);
      return started(secret);
    },
    signOut: async ({ call }) => {
      const member = sessionOf(call);
      if (member) await sessions.end(member.memberId, member.sessionId);
      return { body: undefined, headers: { 'Set-Cookie': endedCookie } };
    },
    openInvitation: async ({ body }) => {
      const opened = await members.open(body.token);
      return {
        body: {
          partner_name: opened.partnerName,
          name: opened.name,
          role: opened.role,
          is_recovery: opened.isRecovery,
          expires_at: text(opened.expiresAt),
          options: optionsView(opened.options),
        },
      };
    },
    acceptInvitation: async ({ body, call }) => {
      const member = sessionOf(call);
      const accepted = {
        answer: body.credential,
        passkeyName: body.passkey_name ?? usualPasskeyName,
        origin: originOf(call),
      };
      const { secret } = await members.accept(
        body.token,
        accepted,
        async (em, { memberId, partnerId, name, isRecovery }) => {
          if (isRecovery) await commissionAddresses.restartWaiting(em, partnerId, parts.keys.now());
          const operation = isRecovery ? 'recoverMember' : 'acceptInvitation';
          const about = { target: `member:${memberId}`, after: { name } };
          await audit.write(em, parts.actor(memberId, call), operation, 'in the cabinet', about);
        },
      );
      if (member) await sessions.end(member.memberId, member.sessionId);
      return started(secret);
    },
  } satisfies Partial<CabinetHandlers>;
}

/** The session of the request, and the other sessions of its member. */
export function sessionHandlers(parts: CabinetParts) {
  const { sessions } = parts;
  return {
    getSession: async (request) => ({ body: await me(parts, memberOf(request)) }),
    listSessions: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const data = (await sessions.list(memberId)).map(
        ({ id, createdAt, lastSeenAt, expiresAt, network, browser }) => ({
          id,
          is_current: id === sessionId,
          created_at: text(createdAt),
          last_seen_at: text(lastSeenAt),
          expires_at: text(expiresAt),
          network,
          browser,
        }),
      );
      return { body: { data, has_more: false } };
    },
    endSession: async (request) => {
      await sessions.end(memberOf(request).memberId, request.path.session_id);
      return { body: undefined };
    },
  } satisfies Partial<CabinetHandlers>;
}

async function me({ members, areOfValue }: CabinetParts, caller: MemberCaller): Promise<Schemas['Me']> {
  const { partner } = caller;
  const member = await members.get(partner.id, caller.memberId);
  return {
    member: memberView(member),
    partner: { id: partner.id, name: partner.name, status: partner.status },
    rights: rightsOf(caller.role),
    environment: areOfValue ? 'live' : 'sandbox',
    passkeys: member.passkeys,
    session: { id: caller.sessionId, signed_in_at: text(caller.signedInAt), expires_at: text(caller.expiresAt) },
  };
}
