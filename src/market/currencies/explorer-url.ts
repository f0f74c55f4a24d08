import type { Currency } from './currency.entity.ts';

/** The pages of a currency's block explorer, with `{tx}` and `{address}` in their place. */
type ExplorerPages = Pick<Currency, 'explorerTxUrl' | 'explorerAddressUrl'>;

/**
 * The page of a block explorer for a transaction or an address of the main network. Null where no
 * explorer shows such things. The chains of a sandbox and test networks have none: ask for them
 * only where coins have value.
 */
export function explorerUrl(pages: ExplorerPages, kind: 'transaction' | 'address', value: string): string | null {
  const template = kind === 'transaction' ? pages.explorerTxUrl : pages.explorerAddressUrl;
  if (template === null || !template.startsWith('https://')) return null;
  return template.replaceAll(kind === 'transaction' ? '{tx}' : '{address}', () => encodeURIComponent(value));
}
