CREATE TABLE `audit_progress` (
	`project_id` text PRIMARY KEY NOT NULL,
	`indexed_from` integer NOT NULL,
	`indexed_to` integer NOT NULL,
	`lease_owner` text,
	`lease_until` integer
);
--> statement-breakpoint
CREATE TABLE `audit_segments` (
	`project_id` text NOT NULL,
	`segment` integer NOT NULL,
	`since_at` integer NOT NULL,
	`until_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `segment`)
);
--> statement-breakpoint
CREATE TABLE `audit_terms` (
	`project_id` text NOT NULL,
	`bucket` integer NOT NULL,
	`segment` integer NOT NULL,
	`terms` text NOT NULL,
	PRIMARY KEY(`project_id`, `bucket`, `segment`)
);
--> statement-breakpoint
DROP INDEX `audit_blocks_at`;