CREATE TABLE `deliveries` (
	`webhook_id` text NOT NULL,
	`event_id` text NOT NULL,
	`key` text NOT NULL,
	`key_seq` integer NOT NULL,
	`state` text NOT NULL,
	`attempt` integer NOT NULL,
	`due_at` integer,
	`lease_owner` text,
	`last_status` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	PRIMARY KEY(`webhook_id`, `event_id`)
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`webhook_id`,`due_at`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `deliveries_of_key` ON `deliveries` (`webhook_id`,`key`,`key_seq`) WHERE state = 'waiting';--> statement-breakpoint
CREATE INDEX `deliveries_state` ON `deliveries` (`webhook_id`,`state`,`event_id`) WHERE state <> 'delivered';--> statement-breakpoint
CREATE INDEX `deliveries_age` ON `deliveries` (`created_at`);--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`type` text NOT NULL,
	`key` text NOT NULL,
	`key_seq` integer NOT NULL,
	`body` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `events_of_project` ON `events` (`project_id`,`at`,`id`);--> statement-breakpoint
CREATE INDEX `events_age` ON `events` (`at`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`url` text NOT NULL,
	`description` text,
	`types` text,
	`enabled` integer NOT NULL,
	`disabled_reason` text,
	`disabled_at` integer,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until` integer,
	`failures` integer NOT NULL,
	`failing_since` integer,
	`probe_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhooks_of_project` ON `webhooks` (`project_id`,`id`);--> statement-breakpoint
ALTER TABLE `connections` ADD `event_seq` integer;--> statement-breakpoint
ALTER TABLE `workers` ADD `event_seq` integer;