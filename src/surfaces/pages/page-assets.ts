/**
 * The style of order pages. Text is large, colours reach WCAG AA in both themes, and a QR code
 * stays black on white. Served compressed, below 1 kB.
 */
export const pageStyle = `:root{--bg:#f3f5f8;--card:#fff;--text:#10151d;--soft:#4b5563;--line:#d5dae2;--tone:#1d4ed8;--wash:#e8effd}
.good{--tone:#0a6640;--wash:#e2f5eb}
.warn{--tone:#8a4504;--wash:#fff2dc}
.bad{--tone:#ab1d1d;--wash:#fdeaea}
@media(prefers-color-scheme:dark){:root{--bg:#0b0e13;--card:#161b23;--text:#edf0f4;--soft:#aab4c2;--line:#323a47;--tone:#9dbdff;--wash:#1a2848}
.good{--tone:#6fdcab;--wash:#10301f}
.warn{--tone:#f6c06a;--wash:#382709}
.bad{--tone:#ffa49c;--wash:#401a1a}}
*,:before{box-sizing:border-box;margin:0;overflow-wrap:anywhere}
body{background:var(--bg);color:var(--text);font:1.125rem/1.5 system-ui,sans-serif}
main,.side{display:grid;gap:1rem}
main{max-width:66rem;margin:auto;padding:1rem}
header,.row{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
section,.say{background:var(--card);border:1px solid var(--line);border-radius:1rem;padding:1.25rem;min-width:0}
.say{background:var(--wash);border-color:var(--tone)}
.test{padding:.5rem 1.25rem}
h1,a{color:var(--tone)}
h1{font-size:1.9rem;line-height:1.2;margin-bottom:.5rem}
h2{font-size:1.125rem}
h2+p,p+p,.pay>*+*,ol,dt{margin-top:.75rem}
.soft,dt{color:var(--soft);font-size:1rem}
.big,.left{font-size:1.5rem;font-weight:700}
svg{display:block;max-width:20rem;margin:auto;border-radius:.5rem}
button,.open{font:inherit;font-weight:700;color:inherit;background:none;border:2px solid;border-radius:.5rem;padding:.5rem 1rem}
.open{text-align:center;text-decoration:none;background:#1d4ed8}
button{display:none}
.open,.js button{display:block}
:focus-visible{outline:3px solid var(--tone);outline-offset:2px}
ol{list-style:none;padding:0}
li{padding:0 0 1rem 2.5rem;position:relative;color:var(--soft)}
li:before,li:after{content:"";position:absolute;left:0;width:1.5rem;height:1.5rem;border:2px solid;border-radius:50%;line-height:1.25rem;text-align:center}
li:after{top:1.6rem;bottom:-.1rem;left:.7rem;width:0;height:auto;border-width:0 0 0 2px;border-radius:0;color:var(--line)}
li:last-child:after{display:none}
li .soft{display:block}
.done:before{content:"✓";background:#0a6640}
.open,.done:before{color:#fff;border-color:#0000}
.now:before{border:.45rem solid var(--tone)}
.stopped:before{content:"!"}
.now,.done,.stopped{color:inherit}
header,.now,.stopped{font-weight:700}
.hide{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
@media(min-width:56rem){main{grid-template-columns:1fr 1fr;align-items:start;padding:2rem 1rem}header,footer,main>.say{grid-column:1/-1}}
`;

/**
 * The script of order pages: the countdown by the server's clock, copying, and reading the page
 * again. It uses no sink of Trusted Types: the browser itself parses the answer. Served compressed,
 * below 1 kB.
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
