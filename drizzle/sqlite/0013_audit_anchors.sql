CREATE TABLE `audit_anchors` (
	`project_id` text NOT NULL,
	`last_seq` integer NOT NULL,
	`first_seq` integer NOT NULL,
	`hash` text NOT NULL,
	`at` integer NOT NULL,
	`mac` text NOT NULL,
	PRIMARY KEY(`project_id`, `last_seq`)
);
