DROP INDEX `page_sessions_subject`;--> statement-breakpoint
CREATE INDEX `page_sessions_of_subject` ON `page_sessions` (`subject`,`kind`,`project_id`);--> statement-breakpoint
ALTER TABLE `mcp_consents` ADD `verifier` text;--> statement-breakpoint
ALTER TABLE `mcp_records` ADD `network` text;--> statement-breakpoint
CREATE INDEX `mcp_records_network` ON `mcp_records` (`network`,`expires_at`,`id`) WHERE network is not null;