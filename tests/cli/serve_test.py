#!/usr/bin/env python3
"""`penn serve` as its clients see it, good and bad. Usage: serve_test.py PENN MODEL; MODEL is fuzz/corpus/model/tiny.safetensors (one
parameter, 12 samples). Prints what failed and exits with 1."""
import concurrent.futures, http.client, json, os, random, re, signal, socket, subprocess, sys, tempfile, time

penn, model = sys.argv[1], os.path.realpath(sys.argv[2])
name = os.path.basename(model).replace(".safetensors", "")
failures = checks = 0
DATA = "0.1\n0.25\n-0.3\n0.4\n0.55\n0.61\n-0.7\n0.82\n-0.93\n0.14\n0.2\n0.31\n"


def check(what, condition, shown=""):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
        print("FAILED:", what, str(shown)[:400])


class Serve:
    """The program on a free port."""

    def __init__(self, *options):
        self.process = subprocess.Popen([penn, "serve", "--port", "0", "--models", model, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://([^:/]+):(\d+)/", self.line)
        if not found:
            sys.exit("no address in %r: %s" % (self.line, self.process.stderr.read()))
        self.port = int(found.group(2))

    def ask(self, method, path, body=None, headers={}, timeout=20):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode(), dict((k.lower(), v) for k, v in response.getheaders())
        finally:
            connection.close()

    def raw(self, data, wait=True):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            try:
                s.sendall(data)
                answer = b""
                while wait:
                    part = s.recv(65536)
                    if not part:
                        break
                    answer += part
                return answer
            except OSError as error:
                return repr(error).encode()

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        try:
            code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = "no end"
        return code, self.process.stderr.read()

    def memory(self):
        with open("/proc/%d/status" % self.process.pid) as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024  # MB


serve = Serve()
check("says where to look", "Open http://127.0.0.1:%d/ in a browser" % serve.port in serve.line, serve.line)

# ---- good requests
status, text, headers = serve.ask("GET", "/")
check("page", status == 200 and "penn-data" in text and headers["content-type"].startswith("text/html"), status)
check("security headers", headers.get("x-content-type-options") == "nosniff" and "default-src 'none'" in headers.get("content-security-policy", ""), headers)
check("no CORS", not any(h.startswith("access-control") for h in headers), headers)
status, text, _ = serve.ask("GET", "/api/models")
check("models", status == 200 and name in [m["name"] for m in json.loads(text)["models"]], text)
status, text, _ = serve.ask("POST", "/api/infer?model=%s&file=bead.csv" % name, DATA)
check("infer", status == 200 and json.loads(text)["results"][0]["name"] == "bead.csv", text)
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/bead.csv", "w") as file:
        file.write(DATA)
    printed = json.loads(subprocess.run([penn, "infer", model, folder + "/bead.csv", "--json", "-"], capture_output=True, text=True).stdout)
served = json.loads(text)["results"][0]
check("the same posterior as penn infer", all(served[k] == printed[k] for k in ("mean", "sd", "weights", "means", "quantiles", "verdict", "warnings")), printed)
question = json.dumps({"theta": [0.5], "length": 12, "seed": 3})
status, text, _ = serve.ask("POST", "/api/simulate?model=" + name, question)
check("simulate", status == 200 and json.loads(text)["results"][0]["truth"] == [0.5], text)

# ---- bad requests: a JSON error with 4xx, in the library's words
def refused(what, status, part, method, path, body=None, headers={}):
    got, text, _ = serve.ask(method, path, body, headers)
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError):
        error = "no JSON: " + text
    check(what, got == status and part in error, (got, error))

refused("bad CSV", 400, "my bead.csv:2:1: 'x1y' is not a number", "POST", "/api/infer?model=%s&file=my%%20bead.csv" % name, "1\nx1y\n3\n")
refused("unknown model", 404, "no model", "POST", "/api/infer?model=nothing", DATA)
refused("a path is no model", 404, "no model", "POST", "/api/infer?model=" + model.replace("/", "%2F"), DATA)
refused("missing parameter", 400, "'model' is missing", "POST", "/api/infer", DATA)
refused("wrong method", 405, "POST only", "GET", "/api/simulate?model=" + name)
refused("bad JSON", 400, "not a JSON object", "POST", "/api/simulate?model=" + name, '{"theta": [')
refused("wrong length of theta", 400, "list of 1", "POST", "/api/simulate?model=" + name, '{"theta": [1, 2], "length": 12, "seed": 1}')
refused("huge number", 400, "from 0 to 1", "POST", "/api/simulate?model=" + name, '{"theta": [1e300], "length": 12, "seed": 1}')
refused("NaN", 400, "JSON", "POST", "/api/simulate?model=" + name, '{"theta": [NaN], "length": 12, "seed": 1}')
refused("too long", 400, "from 12 to 12", "POST", "/api/simulate?model=" + name, '{"theta": [0.5], "length": 1000000000, "seed": 1}')
for path in ("/../../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/api/../../etc/passwd", "/models/tiny.safetensors", "/favicon.ico", "/api/models/"):
    refused("path " + path, 404, "nothing at this address", "GET", path)
refused("other host", 403, "this machine only", "GET", "/", headers={"Host": "evil.example:%d" % serve.port})
refused("page of another site", 403, "other sites", "POST", "/api/simulate?model=" + name, question, {"Origin": "http://evil.example"})
refused("bytes of all kinds", 400, "data.csv:", "POST", "/api/infer?model=" + name, bytes(range(1, 256)) * 40)

# ---- raw sockets
for what, data, expected in [
    ("https", bytes.fromhex("16030100c8010000c40303") + b"\r\n\r\n", b"400"), ("words", b"hello there\r\n\r\n", b"400"), ("no host", b"GET / HTTP/1.1\r\n\r\n", b"400"),
    ("two lengths", b"POST /api/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 5\r\n\r\nabcde", b"400"),
    ("chunks", b"POST /api/infer HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n", b"411"),
    ("negative length", b"POST /api/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", b"400"),
    ("long head", b"GET / HTTP/1.1\r\nX: " + b"a" * 100000, b"431"), ("long address", b"GET /" + b"a" * 10000 + b" HTTP/1.1\r\n\r\n", b"414"),
    ("announced 1 TB", b"POST /api/infer?model=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1099511627776\r\n\r\n", b"413"),
]:
    answer = serve.raw(data)
    check("raw " + what, answer.startswith(b"HTTP/1.1 " + expected), answer[:200])
    check("raw %s is told in JSON" % what, b'{"error":' in answer, answer[-200:])
random.seed(1)
for i in range(200):
    serve.raw(bytes(random.randrange(256) for _ in range(random.randrange(1, 400))), wait=False)
status, text, _ = serve.ask("POST", "/api/infer?model=" + name, b"1\n" * (17 << 20))
check("33 MB and a bit are too much", status == 413 and "32 MB" in text, (status, text[:200]))
status, text, _ = serve.ask("POST", "/api/infer?model=" + name, b"1\n" * (3 << 20))
check("3 million samples are too many for a page", status == 413 and "penn infer" in text, (status, text[:200]))

# ---- many clients: 60 that never finish, 50 that ask at once
slow = [socket.create_connection(("127.0.0.1", serve.port)) for _ in range(60)]
for s in slow:
    s.sendall(b"POST /api/infer?model=x HTTP/1.1\r\nContent-Le")
def client(i):
    body = json.dumps({"theta": [i / 50], "length": 12, "seed": i})
    status, text, _ = serve.ask("POST", "/api/simulate?model=" + name, body)
    return status == 503 or (status == 200 and json.loads(text)["results"][0]["truth"] == [i / 50]), status
start = time.time()
with concurrent.futures.ThreadPoolExecutor(50) as pool:
    answers = list(pool.map(client, list(range(50)) * 4))
check("50 clients at once get their own answers or 503", all(good for good, _ in answers), answers)
print("50 clients, 200 requests: %.2f s, %d answered, %d told 503; %.0f MB" % (time.time() - start, sum(s == 200 for _, s in answers), sum(s == 503 for _, s in answers), serve.memory()))
check("most are answered", sum(s == 200 for _, s in answers) > 150, answers)
for s in slow:
    s.close()

# ---- 16 uploads of 30 MB that never finish: 256 MB are held, the rest is told to come back
before, uploads, refused = serve.memory(), [], 0
for _ in range(16):
    s = socket.create_connection(("127.0.0.1", serve.port), timeout=5)
    uploads.append(s)
    try:
        s.sendall(b"POST /api/infer?model=x HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (31 << 20))
        for _ in range(30):
            s.sendall(b"1\n" * (1 << 19))
    except OSError:
        pass  # refused while sending
    s.settimeout(0.5)
    try:
        refused += s.recv(100).startswith(b"HTTP/1.1 503")
    except OSError:
        pass  # still being received
check("unfinished uploads are refused when there are too many", 6 <= refused <= 12, refused)
check("memory stays within the limit", 100 < serve.memory() - before < 300, serve.memory() - before)
for s in uploads:
    s.close()
check("still alive", serve.ask("GET", "/api/models")[0] == 200)

# ---- the port, the address, the end
second = subprocess.run([penn, "serve", "--port", str(serve.port), "--models", model], capture_output=True, text=True, timeout=20)
check("port in use", second.returncode == 1 and "port %d of 127.0.0.1 is in use\nhint:" % serve.port in second.stderr, second)
code, errors = serve.end(signal.SIGTERM)
check("SIGTERM ends with 0", code == 0 and errors == "", (code, errors))
other = Serve()
hanging = socket.create_connection(("127.0.0.1", other.port))
code, errors = other.end(signal.SIGINT)
check("SIGINT ends with 0", code == 0, (code, errors))
everyone = Serve("--host", "0.0.0.0")
check("any host with --host", everyone.ask("GET", "/", headers={"Host": "lab.example"})[0] == 200)
code, errors = everyone.end()
check("an open address is a warning", "warning: everyone who can reach 0.0.0.0" in errors, errors)
for what, options, code, part in [("no such model", ["--models", "nothing"], 1, "no model file 'nothing'"), ("no such host", ["--models", model, "--host", "no host"], 1, "not an address"),
                                  ("bad port", ["--models", model, "--port", "70000"], 2, "--port")]:
    done = subprocess.run([penn, "serve", "--port", "0", *options] if what != "bad port" else [penn, "serve", *options], capture_output=True, text=True, timeout=20)
    check(what, done.returncode == code and part in done.stderr, done)

print("%d checks, %d failed" % (checks, failures))
sys.exit(failures > 0)
