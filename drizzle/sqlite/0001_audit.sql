CREATE TABLE `audit_blocks` (
	`project_id` text NOT NULL,
	`first_seq` integer NOT NULL,
	`count` integer NOT NULL,
	`at` integer NOT NULL,
	`text` text NOT NULL,
	`previous` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`project_id`, `first_seq`)
);
--> statement-breakpoint
CREATE INDEX `audit_blocks_at` ON `audit_blocks` (`project_id`,`at`);--> statement-breakpoint
CREATE TABLE `changes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`writer` text NOT NULL,
	`change` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `connections` ADD `unanswered_refreshes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `connections_expiry` ON `connections` (`expires_at`) WHERE status = 'active' and refresh is not null;--> statement-breakpoint
ALTER TABLE `connections` DROP COLUMN `refresh_intent`;