import { createHash } from 'node:crypto';
import { encode } from 'uqr';
import type { Fact, PageView, Payment, Step } from './page-view.ts';
import { utc } from './page-view.ts';

/** Paths of the page's own files. Their names change with their content. */
export interface AssetPaths {
  readonly style: string;
  readonly script: string;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(value: string): string {
  return value.replace(/[&<>"']/g, (sign) => entities[sign] ?? '');
}

/** A page about an order. */
export function orderHtml(view: PageView, assets: AssetPaths): string {
  const { partnerName, shortId, tone, headline, lines, payment, refreshSec } = view;
  const said = lines.map((line) => `<p>${text(line)}</p>`).join('\n');
  const content = `<header><span>${text(partnerName)}</span><span class="soft">Order ${text(shortId)}</span></header>
${view.isTest ? '<p class="say warn test">This is a <b>test order</b>. Never send real coins to it.</p>\n' : ''}<section class="say ${tone}">
<h1>${text(headline)}</h1>
${payment ? countdown(payment) : ''}${said}
</section>
${payment ? `${paymentHtml(payment)}<div class="side">\n` : ''}<section>
<h2>Progress</h2>
<ol>
${view.steps.map(stepHtml).join('\n')}
</ol>
</section>
<section>
<h2>Your order</h2>
<dl>
${view.facts.map(factHtml).join('\n')}
</dl>
</section>${payment ? '\n</div>' : ''}${refreshSec === null ? '' : `\n<footer><a href="">Look again</a> <span class="soft">if this page does not change by itself.</span></footer>`}`;
  return html({ title: `${headline} · ${partnerName}`, tone, content, refreshSec, assets });
}

/** A page without an order: one that is not there, or cannot be shown at this moment. */
export function noticeHtml(
  { headline, line, refreshSec }: { headline: string; line: string; refreshSec: number | null },
  assets: AssetPaths,
): string {
  const content = `<section class="say bad">\n<h1>${text(headline)}</h1>\n<p>${text(line)}</p>\n</section>`;
  return html({ title: headline, tone: 'bad', content, refreshSec, assets });
}

interface Page {
  readonly title: string;
  readonly tone: string;
  readonly content: string;
  readonly refreshSec: number | null;
  readonly assets: AssetPaths;
}

/**
 * The mark of the content tells the script whether the page has changed. Time left does not count.
 */
function html({ title, content, refreshSec, assets }: Page): string {
  const mark = createHash('sha256')
    .update(content.replace(/ data-left="\d+"/, ''))
    .digest('hex')
    .slice(0, 16);
  const poll = refreshSec === null ? '' : ` data-poll="${refreshSec}"`;
  const reload =
    refreshSec === null ? '' : `<noscript><meta http-equiv="refresh" content="${refreshSec * 2}"></noscript>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${text(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" defer></script>
${reload}</head>
<body>
<main data-v="${mark}"${poll}>
${content}
</main>
<p id="said" class="hide" role="status"></p>
</body>
</html>
`;
}

/** Without script the time is told in UTC only, as the clock of a device may be wrong. */
function countdown({ secondsLeft, expiresAt }: Payment): string {
  return `<p class="row"><span class="left" data-left="${secondsLeft}" role="timer"></span> <span class="soft">Pay before <time datetime="${text(expiresAt)}">${utc(expiresAt)}</time></span></p>
`;
}

/** The tag comes before the code: a user who scans first and reads later would pay without it. */
function paymentHtml({ amount, coin, network, address, tag, uri, opensWallet }: Payment): string {
  const memo = tag
    ? `<div class="say warn memo"><h2>Enter this ${text(tag.name)} in your wallet</h2>
<p class="row"><code class="big">${text(tag.value)}</code>${copy(tag.value, tag.name)}</p>
<p>Without the ${text(tag.name)} your payment cannot be found.</p></div>
`
    : '';
  const open =
    uri !== null && opensWallet
      ? `<p><a class="open" href="${text(uri)}" rel="noreferrer">Open in a wallet</a></p>\n`
      : '';
  return `<section class="pay">
<h2>Amount</h2>
<p class="row"><span class="big">${text(amount)} ${text(coin)}</span>${copy(amount, 'amount')}</p>
<p>Network: <b>${text(network)}</b></p>
${memo}${uri === null ? '' : qrCode(uri)}
${open}<h2>Address</h2>
<p><code>${text(address)}</code></p>
<p>${copy(address, 'address')}</p>
</section>
`;
}

/** Hidden until the script runs, which copies. */
function copy(value: string, what: string): string {
  return `<button type="button" data-copy="${text(value)}">Copy<span class="hide"> the ${text(what)}</span></button>`;
}

const border = 4;

/** A QR code as a separate image, black on white with a border of four modules in any theme. */
function qrCode(content: string): string {
  const { data, size } = encode(content, { ecc: 'M', border });
  const rows = data.map((row, y) => {
    const runs: string[] = [];
    for (let x = 0; x < size; x++) {
      if (!row[x]) continue;
      const from = x;
      while (row[x + 1]) x++;
      runs.push(`M${from} ${y}h${x - from + 1}v1H${from}z`);
    }
    return runs.join('');
  });
  return `<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code of the payment" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${rows.join('')}"/></svg>`;
}

const stateWords: Readonly<Record<Step['state'], string>> = {
  done: 'done: ',
  now: 'now: ',
  next: 'to come: ',
  stopped: 'stopped: ',
};

function stepHtml({ name, state, note }: Step): string {
  const more = note === null ? '' : ` <span class="soft">${text(note)}</span>`;
  return `<li class="${state}"${state === 'now' ? ' aria-current="step"' : ''}><span class="hide">${stateWords[state]}</span>${text(name)}${more}</li>`;
}

function factHtml({ label, value, isCode, href }: Fact): string {
  const written = isCode ? `<code>${text(value)}</code>` : text(value);
  const shown =
    href === null ? written : `<a href="${text(href)}" rel="noreferrer noopener" target="_blank">${written}</a>`;
  return `<dt>${text(label)}</dt>\n<dd>${shown}</dd>`;
}
