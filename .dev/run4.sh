mkdir -p /tmp/b && tar -C /tmp/b -xJf .dev/t.xz; cd /tmp/b
./old generate random -n 1M --seed 1 -o r.ply >/dev/null 2>&1; ./old generate tets -n 200k --seed 1 -o t.vtu >/dev/null 2>&1; ./old generate scan -n 1M --seed 1 -o s.ply >/dev/null 2>&1
./old refine r.ply --mark fraction:0.1 -o rr.vtu >/dev/null 2>&1; ls -la
cat > cmp.py <<'P'
import subprocess,time,collections
C=['polylla r.ply -o o.vtu','polylla r.ply --precision f32 -o o.ply','polylla t.vtu -o o.vtu','refine r.ply --mark fraction:0.3 -o o.ply','refine t.vtu --mark fraction:0.3 -o o.vtu','smooth t.vtu -o o.vtu','smooth t.vtu --improve -o o.vtu','weld s.ply --epsilon 0.0005 -o o.ply','reorder r.ply -o o.ply','decimate s.ply --ratio 0.1 -o o.ply','repair s.ply -o o.ply','polylla r.ply --levels 3 -o o-{level}.vtu','info r.ply','info t.vtu','convert rr.vtu -o o.vtu']
t={}
for c in C:
    dev=[] if c.split()[0] in('info','convert') else ['--device','cuda']
    r={'old':[],'new':[]}
    for k in range(8):
        for b in (['old','new'] if k%2 else ['new','old']):
            s=time.time(); p=subprocess.run(['./'+b]+c.split()+dev,capture_output=True,text=True); r[b].append(time.time()-s)
            if p.returncode: err=p.stderr[-100:]; break
        else: continue
        print(c,err); break
    else:
        m={b:sorted(v)[len(v)//2] for b,v in r.items()}
        print('%-46s %.3f %.3f ratio %.3f  min %.3f %.3f'%(c,m['old'],m['new'],m['new']/m['old'],min(r['old']),min(r['new'])),flush=True)
P
timeout 190 python3 cmp.py
