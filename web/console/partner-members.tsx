import type { ReactNode } from 'react';
import { words } from '../ui/format.ts';
import { Ago, Badge, Card, Empty, Table } from '../ui/parts.tsx';
import {
  InviteMemberDocument,
  type MemberRole,
  type PartnerQuery,
  RecoverMemberDocument,
  WithdrawInvitationDocument,
} from './generated/graphql.ts';
import { useMay } from './session.tsx';
import { type Action, Actions, secretShown, send } from './shared.tsx';

type PartnerView = PartnerQuery['partner'];
type Member = NonNullable<PartnerView['members']>[number];
type Invitation = NonNullable<PartnerView['invitations']>[number];

const roles: readonly (readonly [MemberRole, string, string])[] = [
  ['OWNER', 'Owner', 'All of it, also people and the audit log'],
  ['DEVELOPER', 'Developer', 'Keys, webhooks and orders'],
  ['FINANCE', 'Finance', 'Statements and orders'],
  ['VIEWER', 'Viewer', 'Orders'],
];

/** The people of a partner, who sign in to its cabinet, and the invitations that are open. */
export function PartnerMembers({ partner }: { partner: PartnerView }): ReactNode {
  const may = useMay();
  const { members, invitations, id, name } = partner;
  if (!members || !invitations) return null;
  const invite: Action<{ memberInvite: { link: string } }> = {
    name: 'Invite',
    icon: 'plus',
    title: `Invite to the cabinet of ${name}`,
    about: 'The link works once, within 72 hours. The person who opens it makes a passkey and becomes the member.',
    fields: [
      { name: 'name', label: 'Name of the person' },
      {
        name: 'role',
        label: 'Role',
        kind: 'choice',
        choices: roles,
        initial: members.length + invitations.length === 0 ? 'OWNER' : 'VIEWER',
      },
    ],
    run: ({ name: person = '', role = '', reason = '' }) =>
      send(InviteMemberDocument, { partnerId: id, name: person, role: role as MemberRole, reason }),
    shown: ({ memberInvite }) => secretShown('link', memberInvite.link),
  };
  return (
    <Card title="People" flush tools={may('keys:write') ? <Actions of={[invite as Action]} small /> : null}>
      {members.length === 0 && invitations.length === 0 ? (
        <Empty icon="staff" title="No person has come yet">
          <p>Invite an owner, who then makes keys and invites colleagues.</p>
        </Empty>
      ) : null}
      {members.length === 0 ? null : (
        <Table
          label="People"
          head={
            <>
              <th>Person</th>
              <th>Role</th>
              <th className="number">Passkeys</th>
              <th>Last seen</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {members.map((member) => (
            <tr key={member.id}>
              <td className="strong">{member.name}</td>
              <td>
                <Badge>{words(member.role)}</Badge>
              </td>
              <td className={`number ${member.passkeys < 2 ? 'warn-text' : ''}`}>{member.passkeys}</td>
              <td className="muted nowrap">{member.lastSeenAt ? <Ago at={member.lastSeenAt} /> : 'never'}</td>
              <td className="number">
                <Actions small of={may('keys:write') ? [recovery(member) as Action] : []} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {invitations.length === 0 ? null : (
        <Table
          label="Open invitations"
          head={
            <>
              <th>Open invitation</th>
              <th>Role</th>
              <th>Made</th>
              <th>Ends</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </>
          }
        >
          {invitations.map((invitation) => (
            <tr key={invitation.id}>
              <td className="strong">{invitation.name}</td>
              <td>
                <Badge>{invitation.isRecovery ? 'To come back' : words(invitation.role)}</Badge>
              </td>
              <td className="muted">
                <span>
                  <Ago at={invitation.createdAt} /> by {invitation.invitedBy ?? 'staff'}
                </span>
              </td>
              <td className="muted nowrap">
                <Ago at={invitation.expiresAt} />
              </td>
              <td className="number">
                <Actions small of={may('keys:write') ? [withdrawal(invitation)] : []} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function withdrawal({ id, name }: Invitation): Action {
  return {
    name: 'Withdraw',
    title: `Withdraw the invitation of ${name}`,
    about: 'Its link works no more. A new invitation has another link.',
    isDangerous: true,
    run: ({ reason = '' }) => send(WithdrawInvitationDocument, { id, reason }),
  };
}

function recovery({ id, name }: Member): Action<{ memberRecover: { link: string } }> {
  return {
    name: 'Recover',
    title: `Let ${name} in again`,
    about: 'For a person who lost all passkeys. The new passkey replaces the old ones, and open sessions end.',
    isDangerous: true,
    run: ({ reason = '' }) => send(RecoverMemberDocument, { memberId: id, reason }),
    shown: ({ memberRecover }) => secretShown('link', memberRecover.link),
  };
}
