mkdir -p /tmp/b && tar -C /tmp/b -xJf .dev/t.xz; cd /tmp/b
cat > cmp.py <<'P'
import json,subprocess,collections
B=['old','new']
for f in ['polylla','refine','refine-tets','polyhedra','smooth','levels','reorder','delaunay','untangle','weld','decimate','repair','compare','levels-polyhedra']:
    r={b:collections.defaultdict(list) for b in B}
    for k in range(6):
        for b in (B[k%2:]+B[:k%2]):
            n='300k' if f=='levels-polyhedra' else '1M'
            a=['./'+b,'bench',f,'-n',n,'--runs','11','--device','cuda','--json','o.json']
            if f in('weld','decimate','repair','compare'): a+=['--mesh','scan']
            o=subprocess.run(a,capture_output=True,text=True)
            if o.returncode: print(f,o.stderr[-150:]); break
            for s in json.load(open('o.json'))['stages']: r[b][(s['pipeline'],s['name'])].append(s['median'])
    for k in r['old']:
        m={b:sorted(r[b][k])[len(r[b][k])//2] for b in B if r[b][k]}
        if len(m)<2: continue
        if k[1].startswith('all') or (m['old']>0.05 and m['new']/m['old']>1.06): print('%-12s %-14s %-30s %8.3f %8.3f  %.3f'%(f,k[0],k[1],m['old'],m['new'],m['new']/m['old']))
P
timeout 300 python3 cmp.py
timeout 120 compute-sanitizer --tool memcheck ./new selftest --tiny --device cuda --only polylla 2>&1 | tail -2
