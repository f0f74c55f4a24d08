/**
 * The style of order pages. Text is large, colours reach WCAG AA in both themes, and a QR code stays
 * black on white. Served compressed, below 1 kB.
 */
export const pageStyle = `:root{color-scheme:light dark;--bg:#f3f5f8;--card:#fff;--text:#10151d;--soft:#4b5563;--line:#d5dae2;--tone:#1d4ed8;--wash:#e8effd;--fill:#1d4ed8}
.good{--tone:#0a6640;--wash:#e2f5eb}
.warn{--tone:#8a4504;--wash:#fff2dc}
.bad{--tone:#ab1d1d;--wash:#fdeaea}
@media(prefers-color-scheme:dark){:root{--bg:#0b0e13;--card:#161b23;--text:#edf0f4;--soft:#aab4c2;--line:#323a47;--tone:#9dbdff;--wash:#1a2848;--fill:#2f5fe0}
.good{--tone:#6fdcab;--wash:#10301f}
.warn{--tone:#f6c06a;--wash:#382709}
.bad{--tone:#ffa49c;--wash:#401a1a}}
*{box-sizing:border-box;margin:0}
body{background:var(--bg);color:var(--text);font:1.125rem/1.5 system-ui,sans-serif}
main{max-width:66rem;margin:auto;padding:1rem;display:grid;gap:1rem}
header{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;font-weight:700}
section,.test{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.25rem;min-width:0}
.say{background:var(--wash);border-color:var(--tone)}
h1{color:var(--tone);font-size:1.75rem;line-height:1.2;overflow-wrap:anywhere}
h2{font-size:1.125rem;margin-bottom:.5rem}
p+p,.pay>*+*{margin-top:.75rem}
.soft,dt{color:var(--soft);font-weight:400}
.big{font-size:1.5rem;font-weight:700;overflow-wrap:anywhere}
code{font:1rem/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
svg{display:block;width:100%;max-width:20rem;height:auto;margin:auto;border-radius:.5rem}
a{color:var(--tone)}
button,.open{font:inherit;font-weight:700;color:var(--text);background:none;border:2px solid;border-radius:.6rem;padding:.35rem .8rem;min-height:2.75rem;cursor:pointer}
.open{display:block;text-align:center;text-decoration:none;color:#fff;background:var(--fill);border-color:var(--fill)}
button{display:none}
.js button{display:inline-block}
:focus-visible{outline:3px solid var(--tone);outline-offset:2px}
ol{list-style:none;padding:0}
li{padding:.25rem 0 .25rem 2rem;position:relative;color:var(--soft)}
li:before{content:"○";position:absolute;left:0}
.done:before{content:"✓"}
.now:before{content:"●"}
.stopped:before{content:"!"}
.now,.done,.stopped{color:var(--text)}
.now,.stopped{font-weight:700}
dt{margin-top:.6rem;font-size:1rem}
dd{overflow-wrap:anywhere}
.row{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
.left{font-size:1.5rem;font-weight:700}
.hide{position:absolute;clip-path:inset(50%)}
@media(min-width:56rem){main{grid-template-columns:1fr 1fr;align-items:start;padding:2rem 1rem}header,.say,.test{grid-column:1/-1}.pay{grid-row:span 2}}
`;

/**
 * The script of order pages: the countdown by the server's clock, copying, and reading the page anew.
 * It uses no sink of Trusted Types: the browser itself parses the answer. Served compressed, below
 * 1 kB.
 */
export const pageScript = `(d=>{
const $=s=>d.querySelector(s),now=()=>performance.now();
let start=now(),asked=start;
d.documentElement.className='js';
const say=t=>$('#said').textContent=t;
const read=()=>{
asked=now();
const x=new XMLHttpRequest;
x.open('GET',location.href);
x.responseType='document';
x.onload=()=>{
const m=$('main'),n=x.response&&x.response.querySelector('main');
if(!n||x.status!=200&&x.status!=404)return;
const a=$('[data-left]'),b=n.querySelector('[data-left]');
if(n.dataset.v!=m.dataset.v){m.replaceWith(n);d.title=x.response.title;say($('h1').textContent)}
else if(a&&b)a.dataset.left=b.dataset.left;
start=now();tick()};
x.send()};
const tick=()=>{
const e=$('[data-left]'),p=$('main').dataset.poll;
let over=0;
if(e){
const s=Math.max(0,Math.round(e.dataset.left-(now()-start)/1e3)),h=s/3600|0,z=n=>(n<10?'0':'')+n;
e.textContent=(h?h+':':'')+z((s/60|0)%60)+':'+z(s%60)+(s<300?' – expiring soon':' left');
over=!s}
if(!d.hidden&&p&&now()-asked>(over?2e3:p*1e3))read()};
setInterval(tick,1e3);
tick();
d.addEventListener('visibilitychange',tick);
d.addEventListener('click',e=>{
const b=e.target.closest('button');
if(b)navigator.clipboard.writeText(b.dataset.copy).then(()=>{b.firstChild.data='Copied';say('Copied');setTimeout(()=>b.firstChild.data='Copy',2e3)})})
})(document)
`;
