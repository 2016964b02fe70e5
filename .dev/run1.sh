mkdir -p /tmp/b && tar -C /tmp/b -xJf .dev/t.xz; cd /tmp/b
nvidia-smi -L
( time ./new selftest --device cuda > st.txt 2>&1; echo rc $? ) 2>&1 | grep -E "real|rc"
grep -c " ok " st.txt; grep -vc " ok " st.txt; tail -3 st.txt
cat > cmp.py <<'P'
import json,subprocess,collections
for f in ['polylla','refine','refine-tets','polyhedra','smooth','levels','reorder','delaunay']:
    r={'old':collections.defaultdict(list),'new':collections.defaultdict(list)}
    for k in range(4):
        for b in (['old','new'] if k%2==0 else ['new','old']):
            o=subprocess.run(['./'+b,'bench',f,'-n','1M','--runs','15','--device','cuda','--json','o.json'],capture_output=True,text=True)
            if o.returncode: print(f,b,o.stderr[-200:]); continue
            for s in json.load(open('o.json'))['stages']: r[b][(s['pipeline'],s['name'])].append(s['median'])
    tot={b:sum(min(v) for k,v in r[b].items() if k[1]=='all stages') for b in r}
    aw={b:sum(min(v) for k,v in r[b].items() if 'host arrays' in k[1]) for b in r}
    print(f,'all stages old %.3f new %.3f ratio %.3f; as waited %.3f %.3f'%(tot['old'],tot['new'],tot['new']/max(tot['old'],1e-9),aw['old'],aw['new']))
P
( time timeout 330 python3 cmp.py ) 2>&1
