import type { ReactNode } from 'react';

const paths = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  orders: 'M7 7h13l-3-3M17 17H4l3 3',
  attention: 'M12 4 3 20h18zM12 10v4M12 17v.01',
  partners:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.6-3.6 3.2-5.5 6.5-5.5s5.900 1.900 6.500 5.500M16 4.300a3.500 3.500 0 0 1 0 6.400M18.500 15c1.600.9 2.600 2.600 3 5',
  money: 'M3 7h18v12H3zM3 11h18M16 15h2',
  chains:
    'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.300 1.300M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.300-1.300',
  catalogue: 'M4 5h16M4 12h16M4 19h10',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h5',
  staff: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c.7-4 4-6 8-6s7.300 2 8 6',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.500 4.500',
  passkey:
    'M9 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2.500 20c.5-3.500 3-5.500 6.500-5.500.8 0 1.600.1 2.300.3M17.500 14a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM17.500 14v7M17.500 17.500h2.500',
  key: 'M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h9v3.500M17 12v3',
  webhook:
    'M12 4a3.500 3.500 0 0 1 2 6.400l3 5.600M12 4a3.500 3.500 0 0 0-2.500 6L7 15.500M7 20a3 3 0 1 1 0-6M7 17h10M17 20a3 3 0 1 0-1.500-5.600',
  networks: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18',
  gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  statements: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  mail: 'M3 6h18v12H3zM3 7l9 7 9-7',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'm5 12.500 4.500 4.500L19 7.500',
  close: 'M6 6l12 12M18 6 6 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v1.500M12 19.500V21M3 12h1.500M19.500 12H21M5.600 5.600l1.100 1.100M17.300 17.300l1.100 1.100M5.600 18.400l1.100-1.100M17.300 6.700l1.100-1.100',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
  auto: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM12 4v16',
  help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.4-1 .9-1 1.700M12 16.500v.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.01',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3',
  empty: 'M4 13 7 5h10l3 8v6H4zM4 13h5l1 2h4l1-2h5',
  refresh: 'M20 11a8 8 0 0 0-14.500-3.500L4 9M4 4v5h5M4 13a8 8 0 0 0 14.500 3.500L20 15M20 20v-5h-5',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  left: 'm14 6-6 6 6 6',
  right: 'm10 6 6 6-6 6',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  out: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h9',
  plus: 'M12 5v14M5 12h14',
} as const;

export type IconName = keyof typeof paths;

/** A drawing that decorates a text; a control of an icon alone needs its own label. */
export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
