import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { words } from '../../ui/format.ts';
import { Loaded, PageButtons, PageHead } from '../../ui/page.tsx';
import { Ago, Badge, Card, Empty } from '../../ui/parts.tsx';
import { type Answer, call, query, type Schemas } from '../api.ts';
import { operationWords, targetWords } from '../cause-words.ts';
import type { Secret } from '../secret.tsx';
import { Allowed, useMay, useMe } from '../session.tsx';
import { type Action, Actions, madeNow } from '../shared.tsx';

type Member = Schemas['Member'];
type Role = Schemas['Role'];

const roles: readonly (readonly [Role, string, string])[] = [
  ['owner', 'Owner', 'Everything, the team included'],
  ['developer', 'Developer', 'Keys, IP addresses, webhooks and orders'],
  ['finance', 'Finance', 'Orders and statements'],
  ['viewer', 'Viewer', 'Orders, read only'],
];
const roleField = (initial: Role) => ({
  name: 'role',
  label: 'Role',
  kind: 'choice' as const,
  initial,
  choices: roles.map(([value, name, about]) => [value, `${name}: ${about.toLowerCase()}`] as const),
});

/** People of the partner, their invitations, and what they did. */
export function Team(): ReactNode {
  const may = useMay();
  const team = useQuery({ ...query('getTeam', {}), enabled: may('team:read') });
  return (
    <Allowed to="team:read">
      <div className="page">
        <PageHead title="Team" lead="Each person signs in with passkeys of their own.">
          {may('team:write') ? <Actions of={[invite]} /> : null}
        </PageHead>
        <Loaded of={team}>
          {({ members, invitations }) => (
            <>
              <Card title={members.length === 1 ? 'One member' : `${members.length} members`} flush>
                <ul className="items">
                  {members.map((member) => (
                    <MemberRow key={member.id} of={member} />
                  ))}
                </ul>
              </Card>
              <Card title="Open invitations" flush={invitations.length > 0}>
                {invitations.length === 0 ? (
                  <Empty icon="mail" title="No open invitation">
                    <p>An invitation is a link that works once, for 72 hours.</p>
                  </Empty>
                ) : (
                  <ul className="items">
                    {invitations.map((invitation) => (
                      <InvitationRow key={invitation.id} of={invitation} />
                    ))}
                  </ul>
                )}
              </Card>
            </>
          )}
        </Loaded>
        {may('audit:read') ? <Audit /> : null}
      </div>
    </Allowed>
  );
}

function linkOf({ link, invitation }: Answer<'invite'>): Secret {
  return {
    title: `The link for ${invitation.name}`,
    about: 'Send it by a way that only this person reads. It works once, for 72 hours.',
    label: 'link',
    text: madeNow(link, `the invitation of ${invitation.name}`),
    isForOther: true,
  };
}

const invite: Action = {
  name: 'Invite a person',
  icon: 'plus',
  title: 'Invite a person',
  about: 'Makes a link that registers a passkey of theirs.',
  isPrimary: true,
  needsPasskey: true,
  fields: [{ name: 'name', label: 'Name', placeholder: 'Ada Osei' }, roleField('developer')],
  run: async ({ name = '', role = 'viewer' }, idempotencyKey) =>
    linkOf(await call('invite', { body: { name: name.trim(), role: role as Role }, idempotencyKey })),
};

function actionsOf({ id, name, role }: Member, isMe: boolean): readonly (Action | null)[] {
  const path = { member_id: id };
  return [
    {
      name: 'Role',
      title: `Role of ${name}`,
      about: 'It holds from the next request on. At least one owner stays.',
      needsPasskey: true,
      fields: [roleField(role)],
      run: async ({ role: chosen = role }) => {
        await call('changeMember', { path, body: { role: chosen as Role } });
        return null;
      },
    },
    isMe
      ? null
      : {
          name: 'Recover',
          icon: 'passkey',
          title: `Recover ${name}`,
          about: 'For a person who lost all passkeys. The link removes the old passkeys and ends all sessions.',
          needsPasskey: true,
          run: async (_values, idempotencyKey) => linkOf(await call('recoverMember', { path, idempotencyKey })),
        },
    isMe
      ? null
      : {
          name: 'Remove',
          icon: 'trash',
          title: `Remove ${name}`,
          about: 'All sessions of the person end at once. Keys that the person made go on.',
          isDangerous: true,
          needsPasskey: true,
          run: async () => {
            await call('removeMember', { path });
            return null;
          },
        },
  ];
}

function MemberRow({ of: member }: { of: Member }): ReactNode {
  const may = useMay();
  const { member: me } = useMe();
  const isMe = member.id === me.id;
  return (
    <li className="item">
      <header>
        <div className="person">
          <span className="initial" aria-hidden="true">
            {member.name.charAt(0).toUpperCase()}
          </span>
          <span>
            <h3 className="item-title">
              {member.name} {isMe ? <span className="muted">(you)</span> : null}
            </h3>
            <span className="muted small">
              {member.last_seen_at ? (
                <>
                  seen <Ago at={member.last_seen_at} />
                </>
              ) : (
                'not seen yet'
              )}
              {' · '}
              {member.passkeys === 1 ? 'one passkey' : `${member.passkeys} passkeys`}
            </span>
          </span>
        </div>
        <Badge tone={member.role === 'owner' ? 'accent' : 'idle'}>{words(member.role)}</Badge>
        {may('team:write') ? <Actions of={actionsOf(member, isMe)} small /> : null}
      </header>
    </li>
  );
}

function InvitationRow({ of: invitation }: { of: Schemas['Invitation'] }): ReactNode {
  const may = useMay();
  const { id, name, role, is_recovery, invited_by, created_at, expires_at } = invitation;
  const withdraw: Action = {
    name: 'Withdraw',
    icon: 'close',
    title: `Withdraw the invitation of ${name}`,
    about: 'Its link no longer works.',
    isDangerous: true,
    run: async () => {
      await call('withdrawInvitation', { path: { invitation_id: id } });
      return null;
    },
  };
  return (
    <li className="item">
      <header>
        <div>
          <h3 className="item-title">{name}</h3>
          <span className="muted small">
            {is_recovery ? 'Recovery' : words(role)}, by <Actor name={invited_by} /> <Ago at={created_at} />, ends{' '}
            <Ago at={expires_at} />
          </span>
        </div>
        {may('team:write') ? <Actions of={[withdraw]} small /> : null}
      </header>
    </li>
  );
}

/** Who did something. Staff have a mark, as a member may have any name. */
function Actor({ name }: { name: string | null }): ReactNode {
  return name ?? <Badge tone="accent">staff</Badge>;
}

/** What members and staff did with the account. */
function Audit(): ReactNode {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const team = useQuery(query('getTeam', {}));
  const names = new Map((team.data?.members ?? []).map(({ id, name }) => [id, name]));
  const audit = useQuery({
    ...query('listAudit', { query: { limit: 10, ...(cursor === undefined ? {} : { cursor }) } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title="What was done" flush>
      <Loaded of={audit} lines={5}>
        {({ data, next_cursor: next }) => (
          <>
            {data.length === 0 ? (
              <Empty icon="audit" title="Nothing yet">
                <p>Each change of keys, IP addresses, webhooks and people is kept here.</p>
              </Empty>
            ) : (
              <ul className="todo">
                {data.map((entry) => (
                  <AuditRow key={entry.id} of={entry} names={names} />
                ))}
              </ul>
            )}
            <PageButtons
              before={cursors.length === 0 ? null : () => setCursors(cursors.slice(0, -1))}
              after={next === null || audit.isPlaceholderData ? null : () => setCursors([...cursors, next])}
            />
          </>
        )}
      </Loaded>
    </Card>
  );
}

type AuditEntry = Answer<'listAudit'>['data'][number];

function AuditRow({ of, names }: { of: AuditEntry; names: ReadonlyMap<string, string> }): ReactNode {
  const { at, actor, operation, target, network } = of;
  const what = targetWords(target, names);
  return (
    <li>
      <span className="strong">{operationWords(operation)}</span>
      <span className="detail muted">
        {what === null || what === actor ? '' : `${what} · `}by <Actor name={actor} /> from {network}
      </span>
      <span className="muted small">
        <Ago at={at} />
      </span>
    </li>
  );
}
