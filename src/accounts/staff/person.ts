/**
 * The person behind an e-mail address: one value for all spellings that reach one mailbox. It
 * lowers letters and drops what follows a plus sign. For Gmail it also drops dots and the second
 * domain name.
 */
export function personOf(email: string): string {
  const address = email.trim().normalize('NFKC').toLowerCase();
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1).replace(/\.$/, '');
  const mailbox = address.slice(0, at).split('+', 1)[0] ?? '';
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${mailbox}@${domain}`;
  return `${mailbox.replaceAll('.', '')}@gmail.com`;
}
