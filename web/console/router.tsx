import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Failed } from '../ui/page.tsx';
import { Empty } from '../ui/parts.tsx';
import type { Search } from '../ui/search.ts';
import { Shell } from './shell.tsx';

const root = createRootRoute({
  component: Shell,
  validateSearch: (search): Search => search as Search,
  notFoundComponent: () => (
    <Empty icon="search" title="There is no such page">
      <p>The address may be mistyped, or from another version of the console.</p>
    </Empty>
  ),
  errorComponent: ({ error, reset }) => (
    <Failed error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
});

const page = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => React.ReactNode>>,
  name: Name,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load, name),
  });

const routes = root.addChildren([
  page('/', () => import('./pages/overview.tsx'), 'Overview'),
  page('/orders', () => import('./pages/orders.tsx'), 'Orders'),
  page('/orders/$id', () => import('./pages/order.tsx'), 'Order'),
  page('/attention', () => import('./pages/attention.tsx'), 'Attention'),
  page('/partners', () => import('./pages/partners.tsx'), 'Partners'),
  page('/partners/$id', () => import('./pages/partner.tsx'), 'Partner'),
  page('/commission', () => import('./pages/commission.tsx'), 'Commission'),
  page('/commission/$id', () => import('./pages/partner-commission.tsx'), 'PartnerCommission'),
  page('/money', () => import('./pages/money.tsx'), 'Money'),
  page('/chains', () => import('./pages/chains.tsx'), 'Chains'),
  page('/catalogue', () => import('./pages/catalogue.tsx'), 'Catalogue'),
  page('/audit', () => import('./pages/audit.tsx'), 'Audit'),
  page('/staff', () => import('./pages/staff.tsx'), 'Staff'),
  page('/me', () => import('./pages/me.tsx'), 'Me'),
  page('/components', () => import('./pages/components.tsx'), 'Components'),
]);

/** The pages by their addresses below /console. */
export const router = createRouter({
  routeTree: routes,
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search as Search).filter((pair): pair is [string, string] => Boolean(pair[1]));
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
