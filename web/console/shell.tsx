import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Icon, type IconName } from '../ui/icon.tsx';
import { KeysDialog, useChords } from '../ui/keys.tsx';
import { EnvironmentMark, ThemeButton } from '../ui/page.tsx';
import { Skeleton } from '../ui/parts.tsx';
import { query } from './api.ts';
import { AttentionDocument } from './generated/graphql.ts';
import { useLiveState } from './live.ts';
import { Session, useMay, useMember } from './session.tsx';
import { ActionHost } from './shared.tsx';

interface Place {
  readonly to:
    | '/'
    | '/orders'
    | '/attention'
    | '/partners'
    | '/commission'
    | '/money'
    | '/chains'
    | '/catalogue'
    | '/audit'
    | '/staff';
  readonly name: string;
  readonly icon: IconName;
  /** Goes there after 'g'. */
  readonly key: string;
  readonly permission: string;
}

const places: readonly Place[] = [
  { to: '/', name: 'Overview', icon: 'overview', key: 'h', permission: 'stats:read' },
  { to: '/orders', name: 'Orders', icon: 'orders', key: 'o', permission: 'orders:read' },
  { to: '/attention', name: 'Attention', icon: 'attention', key: 'a', permission: 'orders:read' },
  { to: '/partners', name: 'Partners', icon: 'partners', key: 'p', permission: 'partners:read' },
  { to: '/commission', name: 'Commission', icon: 'statements', key: 'k', permission: 'partners:read' },
  { to: '/money', name: 'Money', icon: 'money', key: 'm', permission: 'system:read' },
  { to: '/chains', name: 'Chains', icon: 'chains', key: 'c', permission: 'system:read' },
  { to: '/catalogue', name: 'Catalogue', icon: 'catalogue', key: 't', permission: 'currencies:read' },
  { to: '/audit', name: 'Audit log', icon: 'audit', key: 'l', permission: 'audit:read' },
  { to: '/staff', name: 'Staff', icon: 'staff', key: 's', permission: 'staff:read' },
];

/** The frame of all pages: navigation, search, keys, and how current the pages are. */
export function Shell(): ReactNode {
  return (
    <Session>
      <Frame />
    </Session>
  );
}

function Frame(): ReactNode {
  const may = useMay();
  const search = useRef<HTMLInputElement>(null);
  const [isHelp, setHelp] = useState(false);
  const [isMenu, setMenu] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const navigate = useNavigate();
  useEffect(() => setMenu(false), [path]);
  const shown = places.filter(({ permission }) => may(permission));
  useChords(
    shown,
    (place) => void navigate({ to: place.to }),
    (key) => {
      if (key === '/') search.current?.focus();
      if (key === '?') setHelp(true);
      return key === '/' || key === '?';
    },
  );
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <EnvironmentMark />
      <header className="top">
        <button
          type="button"
          className="button quiet square menu-button"
          aria-label="Navigation"
          aria-expanded={isMenu}
          onClick={() => setMenu(!isMenu)}
        >
          <Icon name={isMenu ? 'close' : 'menu'} />
        </button>
        <Link to="/" className="brand" aria-label="Exchange console, overview">
          <img src="/sign-in/icon.svg" alt="" width="26" height="26" />
          <span>Exchange</span>
        </Link>
        <SearchBox input={search} />
        <LiveMark />
        <ThemeButton />
        <button
          type="button"
          className="button quiet square help-button"
          aria-label="Help"
          onClick={() => setHelp(true)}
        >
          <Icon name="help" />
        </button>
        <MemberMenu />
      </header>
      <nav className={`side ${isMenu ? 'open' : ''}`} aria-label="Pages">
        <ul>
          {shown.map(({ to, name, icon }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
                <Icon name={icon} />
                {name}
                {to === '/attention' ? <AttentionCount /> : null}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1}>
        <ActionHost path={path}>
          <Suspense fallback={<Skeleton lines={8} />}>
            <Outlet />
          </Suspense>
        </ActionHost>
      </main>
      {isHelp ? (
        <KeysDialog chords={shown} more={[['/', 'Search orders']]} onClose={() => setHelp(false)}>
          <p className="muted small">
            Times are UTC, with your local time on hover. Amounts are exact; lists cut decimals and never round.{' '}
            <Link to="/components" onClick={() => setHelp(false)}>
              Components of these pages
            </Link>
          </p>
        </KeysDialog>
      ) : null}
    </div>
  );
}

function AttentionCount(): ReactNode {
  const may = useMay();
  const { data } = useQuery(query('attention', AttentionDocument, { mayActions: may('actions:read') }));
  const number = data?.attention.length ?? 0;
  if (number === 0) return null;
  return (
    <span className="count">
      {number}
      <span className="hidden"> items</span>
    </span>
  );
}

function LiveMark(): ReactNode {
  const state = useLiveState();
  const texts = {
    live: ['Live', 'Changes appear as they happen'],
    connecting: ['Connecting', 'Connecting to the live changes'],
    polling: ['Every 10 s', 'The live connection is refused; the console asks every ten seconds'],
  } as const;
  const [text, title] = texts[state];
  return (
    <span className={`live-mark ${state}`} role="status" title={title}>
      {text}
    </span>
  );
}

function MemberMenu(): ReactNode {
  const { email, role } = useMember();
  return (
    <div className="member">
      <button
        type="button"
        className="button quiet member-button"
        popoverTarget="member-menu"
        aria-label={`Signed in as ${email}`}
      >
        <span className="initial" aria-hidden="true">
          {email.charAt(0).toUpperCase()}
        </span>
      </button>
      <div id="member-menu" popover="auto" className="menu">
        <p className="strong cut">{email}</p>
        <p className="muted small">{role.toLowerCase()}</p>
        <hr />
        <Link to="/me" onClick={() => document.getElementById('member-menu')?.hidePopover()}>
          <Icon name="staff" /> My access and sessions
        </Link>
        <a href="/playground">
          <Icon name="play" /> Playground
        </a>
        <form method="post" action="/sign-out">
          <button type="submit">
            <Icon name="out" /> Sign out
          </button>
        </form>
      </div>
    </div>
  );
}

function SearchBox({ input }: { input: React.RefObject<HTMLInputElement | null> }): ReactNode {
  const navigate = useNavigate();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const text = input.current?.value.trim() ?? '';
    if (text === '') return;
    input.current?.blur();
    if (/^[a-z]{2}-\w{6}$/i.test(text) || /^[\da-f]{8}-[\da-f-]{27}$/i.test(text)) {
      void navigate({ to: '/orders/$id', params: { id: text } });
    } else {
      void navigate({ to: '/orders', search: { q: text } });
    }
  };
  return (
    <search className="search">
      <form onSubmit={submit}>
        <Icon name="search" />
        <input
          ref={input}
          type="search"
          className="input"
          aria-label="Search orders"
          placeholder="Order, address or transaction"
          autoComplete="off"
          spellCheck={false}
        />
        <kbd>/</kbd>
      </form>
    </search>
  );
}
