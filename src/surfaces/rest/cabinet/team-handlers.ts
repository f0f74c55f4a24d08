import type { EntityManager } from '@mikro-orm/postgresql';
import { memberOf } from '../api/call.ts';
import type { AnsweredOnce, CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers, Schemas } from './contract.ts';
import { invitationView, memberView } from './views.ts';

/** The members of the partner, and the invitations that wait. */
export function teamHandlers(parts: CabinetParts) {
  const { members } = parts;
  return {
    getTeam: async (request) => {
      const team = await members.team(memberOf(request).partner.id);
      return {
        body: { members: team.members.map(memberView), invitations: team.invitations.map(invitationView) },
      };
    },
    invite: async (request) => {
      const { partner, memberId, name } = memberOf(request);
      const work = async (em: EntityManager) => {
        const result = await members.invite(partner.id, request.body, { id: memberId, name }, em);
        return { result, target: `partner:${partner.id}`, after: { ...request.body } };
      };
      return withLink(await parts.actOnce(request, 'invite', work, (issued) => invitationView(issued.invitation)));
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
      const { partner, memberId } = memberOf(request);
      const { member_id: id } = request.path;
      const { role } = request.body;
      await parts.act(request, 'changeMember', async (em) => {
        const before = await members.changeRole(em, partner.id, id, role, memberId);
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
      const work = async (em: EntityManager) => {
        const result = await members.recover(partner.id, id, { id: memberId, name }, em);
        return { result, target: `member:${id}` };
      };
      const answer = await parts.actOnce(request, 'recoverMember', work, (issued) => invitationView(issued.invitation));
      return withLink(answer);
    },
  } satisfies Partial<CabinetHandlers>;
}

/** The answer with an invitation. The link of an earlier answer is stored nowhere. */
function withLink({ body, made, headers }: AnsweredOnce<{ readonly link: string }, Schemas['Invitation']>) {
  return { body: { invitation: body, link: made?.link ?? null }, headers };
}
