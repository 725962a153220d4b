//! A real browser: headless Chromium, driven by chromedriver over WebDriver on a loopback port.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A browser that ends, with its driver, when this value does, also when a test fails.
pub struct Browser {
    driver: Child,
    agent: ureq::Agent,
    base: String,
    session: Option<String>,
    /// A new profile, so that nothing of another run or user is seen.
    _profile: TempDir,
}

/// How long a page may take to do what it was told.
const PATIENCE: Duration = Duration::from_secs(30);

fn need(tool: &str) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    assert!(found, "{tool} is missing: apt-get install chromium chromium-driver (or: make test-tools)");
}

impl Browser {
    /// Starts a browser whose page is this wide.
    pub fn start(width: u64) -> Self {
        need("chromium");
        need("chromedriver");
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It takes a free port itself and says which.
        let said = BufReader::new(driver.stdout.take().unwrap());
        let port = said.lines().map_while(Result::ok).find_map(|line| {
            let port = line.split_once("started successfully on port ")?.1;
            Some(port.trim_end_matches('.').to_owned())
        });
        let profile = tempfile::tempdir().unwrap();
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(120)))
            .build()
            .into();
        let base = format!("http://127.0.0.1:{}", port.unwrap_or_default());
        // From here on the value's end ends the driver too.
        let mut browser = Self { driver, agent, base, session: None, _profile: profile };
        browser.wait("the driver to be ready", |browser| {
            browser.call("GET", "/status", None).is_ok_and(|status| status["ready"] == json!(true))
        });
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            &profile,
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": { "args": options },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.call("POST", "/session", Some(wanted)).unwrap();
        browser.session = Some(format!("/session/{}", session["sessionId"].as_str().unwrap()));
        browser.width(width);
        browser
    }

    /// A WebDriver command; what it answers, or its error.
    fn call(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, String> {
        let url = format!("{}{path}", self.base);
        let answer = match (method, body) {
            ("GET", _) => self.agent.get(url).call(),
            ("DELETE", _) => self.agent.delete(url).call(),
            (_, body) => {
                let request = self.agent.post(url).content_type("application/json");
                request.send(body.unwrap_or_else(|| json!({})).to_string())
            }
        };
        let mut answer = answer.map_err(|error| error.to_string())?;
        let text = answer.body_mut().with_config().limit(1 << 30).read_to_string();
        let mut value: Value = serde_json::from_str(&text.map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
        if answer.status().is_success() { Ok(value["value"].take()) } else { Err(value.to_string()) }
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let session = self.session.as_deref().unwrap();
        self.call("POST", &format!("{session}{path}"), Some(body))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Makes the page so many CSS pixels wide, as a phone would.
    pub fn width(&self, width: u64) {
        let size = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        self.post(
            "/goog/cdp/execute",
            json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": size }),
        );
    }

    /// Has the page be as it is for people who prefer dark colours.
    pub fn dark(&self) {
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        self.post("/goog/cdp/execute", json!({ "cmd": "Emulation.setEmulatedMedia", "params": feature }));
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&self, file: &Path) {
        self.open_url(&format!("file://{}", file.display()));
    }

    /// Opens an address and waits until it is loaded.
    pub fn open_url(&self, url: &str) {
        self.post("/url", json!({ "url": url }));
    }

    /// What a script returns.
    #[track_caller]
    pub fn script(&self, script: &str) -> Value {
        self.post("/execute/sync", json!({ "script": script, "args": [] }))
    }

    #[track_caller]
    fn element(&self, css: &str) -> String {
        let found = self.post("/element", json!({ "using": "css selector", "value": css }));
        found.as_object().and_then(|map| map.values().next()?.as_str()).unwrap().to_owned()
    }

    /// Clicks as a hand would, scrolling there first: the element must be visible and nothing may lie over it.
    #[track_caller]
    pub fn click(&self, css: &str) {
        self.script(&format!("document.querySelector({}).scrollIntoView({{ block: 'center' }})", json!(css)));
        self.post(&format!("/element/{}/click", self.element(css)), json!({}));
    }

    /// Types into an element; `\u{e007}` is Enter.
    #[track_caller]
    pub fn keys(&self, css: &str, text: &str) {
        self.post(&format!("/element/{}/value", self.element(css)), json!({ "text": text }));
    }

    /// Replaces what an input holds.
    #[track_caller]
    pub fn fill(&self, css: &str, text: &str) {
        self.post(&format!("/element/{}/clear", self.element(css)), json!({}));
        self.keys(css, text);
    }

    /// The text content of the first element that a selector finds.
    #[track_caller]
    pub fn text(&self, css: &str) -> String {
        let found = self.script(&format!("return document.querySelector({}).textContent", json!(css)));
        found.as_str().unwrap().to_owned()
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub fn until(&self, script: &str) {
        self.wait(script, |browser| browser.script(script) == json!(true));
    }

    #[track_caller]
    fn wait(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the console showed since it was last asked, errors of the page among it.
    pub fn console(&self) -> Vec<String> {
        let log = self.post("/se/log", json!({ "type": "browser" }));
        log.as_array().unwrap().iter().map(|entry| entry["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of a session ends its browser.
        if let Some(session) = self.session.take() {
            let _ = self.call("DELETE", &session, None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
