//! Certificates for tests, made by the program `openssl`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with authorities, and what they have signed.
pub struct Certificates(PathBuf);

impl Certificates {
    /// In a folder that is there.
    pub fn in_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// A file of them.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes an authority: `NAME.pem`, `NAME.key`.
    pub fn authority(&self, name: &str) -> &Self {
        self.run(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {name}.key -out {name}.pem -days 30 -subj /CN={name} \
             -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign"
        ))
    }

    /// Has an authority sign for a new key, for some days: `NAME.pem`, `NAME.key`, of this machine.
    pub fn signed(&self, name: &str, by: &str, days: i32) -> &Self {
        self.run(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name} \
             -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
        ));
        self.run(&format!(
            "x509 -req -in {name}.csr -CA {by}.pem -CAkey {by}.key -CAcreateserial -out {name}.pem -days {days} -copy_extensions copy"
        ))
    }

    /// Runs openssl with the words of a line, and has what it prints.
    pub fn run(&self, line: &str) -> &Self {
        self.said(line);
        self
    }

    /// What openssl prints.
    pub fn said(&self, line: &str) -> String {
        let output = Command::new("openssl").args(line.split_whitespace()).current_dir(&self.0).output();
        let output = output.unwrap_or_else(|error| panic!("openssl: {error}; apt-get install openssl"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {line}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }
}
