import { approvalOf } from '../../../accounts/members/sessions.ts';
import { memberOf } from '../api/call.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers } from './contract.ts';
import { optionsView, passkeyView, text, usualPasskeyName } from './views.ts';

/** A member's passkeys, and what they confirm. */
export function passkeyHandlers(parts: CabinetParts) {
  const { passkeys, sessions } = parts;
  return {
    listPasskeys: async (request) => ({
      body: { data: (await passkeys.list(memberOf(request).memberId)).map(passkeyView), has_more: false },
    }),
    beginPasskey: async (request) => {
      const { memberId, sessionId, name, partner } = memberOf(request);
      const user = { id: memberId, name, partnerName: partner.name };
      return {
        body: {
          options: optionsView(await passkeys.beginRegistration({ purpose: 'passkey', subject: sessionId }, user)),
        },
      };
    },
    addPasskey: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const { credential, name = usualPasskeyName } = request.body;
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
      return { body: { options: optionsView(await passkeys.beginUse(purpose, memberId)) } };
    },
    confirm: async (request) => {
      const { memberId, sessionId } = memberOf(request);
      const approval = await passkeys.proveConfirmation(sessionId, request.body.credential, memberId);
      const { confirmation, expiresAt } = await sessions.confirm(sessionId, approval);
      return { body: { confirmation, expires_at: text(expiresAt) } };
    },
  } satisfies Partial<CabinetHandlers>;
}
