import { rightsOf } from '../../../accounts/members/rights.ts';
import { approvalOf, type MemberCaller } from '../../../accounts/members/sessions.ts';
import { addressPrefix } from '../../../base/limits/client-address.ts';
import { type Call, memberOf, sessionOf } from '../api/call.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers, Schemas } from './contract.ts';
import { endedCookie, sessionCookie } from './session-cookie.ts';
import { invitationView, memberView, passkeyView, text } from './views.ts';

const usualName = 'Passkey';

/** Sign-in, passkeys, sessions and the team. */
export function sessionHandlers(parts: CabinetParts) {
  const { passkeys, sessions, members, audit } = parts;
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
    getSession: async (request) => ({ body: await me(parts, memberOf(request)) }),
    beginSignIn: async () => ({ body: { options: await optionsOf(passkeys.beginUse({ purpose: 'sign_in' }, null)) } }),
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
          options: opened.options as Schemas['WebAuthnOptions'],
        },
      };
    },
    acceptInvitation: async ({ body, call }) => {
      const member = sessionOf(call);
      const accepted = {
        answer: body.credential,
        passkeyName: body.passkey_name ?? usualName,
        origin: originOf(call),
      };
      const { secret } = await members.accept(body.token, accepted, (em, { memberId, name, isRecovery }) =>
        audit.write(
          em,
          parts.actor(memberId, call),
          isRecovery ? 'recoverMember' : 'acceptInvitation',
          'in the cabinet',
          {
            target: `member:${memberId}`,
            after: { name },
          },
        ),
      );
      if (member) await sessions.end(member.memberId, member.sessionId);
      return started(secret);
    },
    listPasskeys: async (request) => ({
      body: { data: (await passkeys.list(memberOf(request).memberId)).map(passkeyView), has_more: false },
    }),
    beginPasskey: async (request) => {
      const { memberId, sessionId, name, partner } = memberOf(request);
      const user = { id: memberId, name, partnerName: partner.name };
      return {
        body: {
          options: await optionsOf(passkeys.beginRegistration({ purpose: 'passkey', subject: sessionId }, user)),
        },
      };
    },
    addPasskey: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const { credential, name = usualName } = request.body;
      const proven = await passkeys.proveNew({ purpose: 'passkey', subject: sessionId }, credential, name);
      const passkey = await parts.act(request, 'addPasskey', async (em) => {
        const result = await passkeys.store(em, memberId, proven);
        return { result, target: `member:${memberId}`, after: { passkey: result.name } };
      });
      return { body: passkeyView(passkey) };
    },
    removePasskey: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      await parts.act(request, 'removePasskey', async (em) => {
        await passkeys.remove(em, memberId, request.path.passkey_id);
        // Who removes a passkey may have lost its device, with a session in it.
        await sessions.endOthers(memberId, sessionId, em);
        return { result: null, target: `member:${memberId}`, before: { passkey: request.path.passkey_id } };
      });
      return { body: undefined };
    },
    beginConfirmation: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const { operation, request_digest: digest } = request.body;
      const approval = approvalOf(operation, digest);
      const purpose = { purpose: 'confirmation', subject: sessionId, approval } as const;
      return { body: { options: await optionsOf(passkeys.beginUse(purpose, memberId)) } };
    },
    confirm: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const approval = await passkeys.proveConfirmation(sessionId, request.body.credential, memberId);
      const { confirmation, expiresAt } = await sessions.confirm(sessionId, approval);
      return { body: { confirmation, expires_at: text(expiresAt) } };
    },
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
    getTeam: async (request) => {
      const team = await members.team(memberOf(request).partner.id);
      return {
        body: { members: team.members.map(memberView), invitations: team.invitations.map(invitationView) },
      };
    },
    invite: async (request) => {
      const { partner, memberId, name } = memberOf(request);
      const issued = await parts.act(request, 'invite', async (em) => {
        const result = await members.invite(partner.id, request.body, { id: memberId, name }, em);
        return { result, target: `partner:${partner.id}`, after: { ...request.body } };
      });
      return { body: { invitation: invitationView(issued.invitation), link: issued.link } };
    },
    withdrawInvitation: async (request) => {
      const { partner } = memberOf(request);
      await parts.act(request, 'withdrawInvitation', async (em) => {
        const { name } = await members.withdraw(partner.id, request.path.invitation_id, em);
        return { result: null, target: `partner:${partner.id}`, before: { name } };
      });
      return { body: undefined };
    },
    changeMember: async (request) => {
      const { partner } = memberOf(request);
      const { member_id: id } = request.path;
      const { role } = request.body;
      await parts.act(request, 'changeMember', async (em) => {
        const before = await members.changeRole(em, partner.id, id, role);
        return { result: null, target: `member:${id}`, before: { role: before }, after: { role } };
      });
      return { body: memberView(await members.get(partner.id, id)) };
    },
    removeMember: async (request) => {
      const { partner } = memberOf(request);
      const { member_id: id } = request.path;
      await parts.act(request, 'removeMember', async (em) => {
        const before = await members.remove(em, partner.id, id);
        return { result: null, target: `member:${id}`, before };
      });
      return { body: undefined };
    },
    recoverMember: async (request) => {
      const { partner, memberId, name } = memberOf(request);
      const { member_id: id } = request.path;
      const issued = await parts.act(request, 'recoverMember', async (em) => {
        const result = await members.recover(partner.id, id, { id: memberId, name }, em);
        return { result, target: `member:${id}` };
      });
      return { body: { invitation: invitationView(issued.invitation), link: issued.link } };
    },
  } satisfies Partial<CabinetHandlers>;
}

async function optionsOf(options: Promise<object>): Promise<Schemas['WebAuthnOptions']> {
  return (await options) as Schemas['WebAuthnOptions'];
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
