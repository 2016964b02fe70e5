mkdir -p /tmp/b && tar -C /tmp/b -xJf .dev/t.xz; cd /tmp/b
cat > cmp.py <<'P'
import json,subprocess,collections,itertools
B=['old','d','new']
for f in ['polylla','refine']:
    r={b:collections.defaultdict(list) for b in B}
    for k in range(9):
        for b in (B[k%3:]+B[:k%3]):
            o=subprocess.run(['./'+b,'bench',f,'-n','1M','--runs','21','--device','cuda','--json','o.json'],capture_output=True,text=True)
            for s in json.load(open('o.json'))['stages']: r[b][(s['pipeline'],s['name'])].append(s['median'])
    for k in r['old']:
        print('%-14s %-30s'%k, ' '.join('%7.3f/%7.3f'%(min(r[b][k]),sorted(r[b][k])[4]) for b in B))
P
python3 cmp.py
